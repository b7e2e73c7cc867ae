// The sequence as a timeline: what is left after each pass, and which instructions came and went.
import {bar} from '../chart.js';
import {h} from '../dom.js';
import {change, percent, valueText} from '../format.js';

const MOST_CHIPS = 6;

function chips(opcodes) {
  const shown = opcodes.slice(0, MOST_CHIPS).map(([opcode, count]) =>
      h('span', {class: `chip ${count < 0 ? 'chip-less' : 'chip-more'}`}, h('b', {}, change(count)), ` ${opcode}`));
  const rest = opcodes.length - shown.length;
  if (rest > 0) shown.push(h('span', {class: 'chip', title: opcodes.slice(MOST_CHIPS).map(([o, c]) => `${change(c)} ${o}`).join('\n')}, `${rest} more`));
  return h('div', {class: 'chips'}, shown);
}

export const title = 'Pass by pass';

export function render(body, data) {
  const text = valueText(data.value_name);
  const most = Math.max(data.initial, ...data.steps.map(({value}) => value), 1);
  const row = (number, name, meaning, value, before, opcodes) => {
    const difference = value - before;
    return h('li', {class: 'step'},
        h('span', {class: 'number'}, number),
        h('div', {class: 'what'}, h('code', {class: 'name'}, name), meaning ? h('p', {class: 'small'}, meaning) : null,
            opcodes && opcodes.length > 0 ? chips(opcodes) : null),
        h('div', {class: 'amount'}, h('div', {class: 'track'}, bar(0, Math.min(value, before) / most, 'plain'),
            difference < 0 ? bar(value / most, before / most, 'good') : difference > 0 ? bar(before / most, value / most, 'bad') : null)),
        h('span', {class: 'value'}, text(value)),
        h('span', {class: `delta ${difference < 0 ? 'less' : difference > 0 ? 'more' : ''}`},
            before === value && !opcodes ? '' : difference === 0 ? '±0' : data.value_name === 'instructions' ? change(difference) : (difference > 0 ? '+' : '') + percent(difference / before)));
  };
  let before = data.initial;
  const rows = [row('', 'as given', '', before, before, null)];
  data.steps.forEach((step, i) => {
    rows.push(row(String(i + 1), step.pass, step.meaning, step.value, before, step.opcodes));
    before = step.value;
  });
  body.append(h('ol', {class: 'timeline', 'aria-label': `${data.value_name} after each pass`}, rows));
}
