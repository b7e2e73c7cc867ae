// Numbers for people: units, groups of three, true minus signs.
const MINUS = '\u2212';

export const signed = (text) => text.replace(/^-/, MINUS);

export function integer(number) {
  return signed(Math.round(number).toLocaleString('en-US'));
}

// Three digits that count, of any size.
export function short(number) {
  if (number === 0) return '0';
  const size = Math.abs(number);
  if (size >= 1000 && size < 1e6 && Number.isInteger(number)) return integer(number);
  const units = [[1e15, ' P'], [1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k']];
  for (const [unit, name] of units) {
    if (size >= unit) return signed(digits(number / unit) + name);
  }
  return signed(Number.isInteger(number) ? String(number) : digits(number));
}

function digits(number) {
  const size = Math.abs(number);
  return number.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

export function bytes(number) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  while (Math.abs(number) >= 1024 && unit + 1 < units.length) {
    number /= 1024;
    unit += 1;
  }
  return `${signed(unit === 0 ? String(number) : digits(number))} ${units[unit]}`;
}

export function seconds(number) {
  if (number === 0) return '0 s';
  const units = ['s', 'ms', 'µs', 'ns'];
  let unit = 0;
  while (Math.abs(number) < 0.9995 && unit + 1 < units.length) {
    number *= 1000;
    unit += 1;
  }
  return `${signed(digits(number))} ${units[unit]}`;
}

export function percent(share) {
  return `${signed((100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0))} %`;
}

// Of ticks: "10 ms" for "10.0 ms".
export const tick = (format) => (number) => format(number).replace(/(\.\d*?)0+(?!\d)/, '$1').replace(/\.(?!\d)/, '');

// The powers of ten from low to high, at most `most` of them.
export function decades(low, high, most) {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const list = [];
  for (let power = first; power <= last; power += step) list.push(Number(`1e${power}`));
  return list;
}

// "+4", "−36".
export function change(number) {
  return (number > 0 ? '+' : '') + integer(number);
}

export const plural = (count, one, many = one + 's') => `${integer(count)} ${count === 1 ? one : many}`;

// How a value of an objective is written, by the objective's name.
export function valueText(name) {
  if (name.startsWith('bytes')) return bytes;
  if (name === 'instructions') return integer;
  return short;
}
