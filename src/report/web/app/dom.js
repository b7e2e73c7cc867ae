// Elements without a framework: h('p', {class: 'note'}, 'text', child). Text is never HTML.
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (name === 'style') {
      for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Buttons of which one is chosen. choices: [[value, label], …]. The element's `choose` chooses.
export function segments(label, choices, chosen, onChoose) {
  const buttons = choices.map(([value, text]) => h('button', {
    type: 'button',
    'aria-pressed': String(value === chosen),
    onclick: () => element.choose(value),
  }, text));
  const element = h('div', {class: 'segments', role: 'group', 'aria-label': label}, buttons);
  element.choose = (value) => {
    buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(choices[i][0] === value)));
    onChoose(value);
  };
  return element;
}

// A box that tells about what is under the pointer; one for the page.
let tip;
export function showTip(x, y, lines) {
  tip ??= document.body.appendChild(h('div', {class: 'tip', role: 'status'}));
  tip.replaceChildren(...lines.map((line, i) => h('div', {class: i === 0 ? 'tip-title' : ''}, line)));
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}
export function hideTip() {
  if (tip) tip.hidden = true;
}
