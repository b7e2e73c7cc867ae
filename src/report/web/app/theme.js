// Light, dark, or as the system has it. What draws on a canvas is told of changes.
const listeners = new Set();
const system = matchMedia('(prefers-color-scheme: dark)');

export const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : system.matches;
};

export function onTheme(listener) {
  listeners.add(listener);
}

export function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  listeners.forEach((listener) => listener());
}

// The value of a custom property of the style sheet.
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

system.addEventListener('change', () => listeners.forEach((listener) => listener()));
// Paper is white.
addEventListener('beforeprint', () => {
  document.documentElement.dataset.printing = '';
  listeners.forEach((listener) => listener());
});
addEventListener('afterprint', () => {
  delete document.documentElement.dataset.printing;
  listeners.forEach((listener) => listener());
});
