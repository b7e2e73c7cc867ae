// What each decision is worth: bars from what does nothing, with intervals where there are some.
import {bar} from '../chart.js';
import {h} from '../dom.js';

const MOST = 16;

export const title = 'What mattered';

export function render(body, data) {
  const rows = [...data.undone].sort((a, b) => b.effect - a.effect);
  if (rows.length === 0) {
    body.append(h('p', {class: 'empty'}, 'There was no decision to undo.'));
    return;
  }
  const ends = rows.flatMap((row) => [row.effect, ...(row.interval ?? [])]);
  const low = Math.min(data.neutral, ...ends);
  const high = Math.max(data.neutral, ...ends);
  const place = (value) => high === low ? 0 : (value - low) / (high - low);
  const neutral = h('div', {class: 'neutral', style: {left: `${(100 * place(data.neutral)).toFixed(2)}%`}});
  const list = h('ol', {class: 'worth', 'aria-label': data.effect_name}, rows.map((row, i) => h('li', {class: 'worth-row', hidden: i >= MOST},
      h('div', {class: 'what'}, h('code', {class: 'name'}, row.decision), row.detail ? h('p', {class: 'small'}, row.detail) : null),
      h('div', {class: 'amount'}, h('div', {class: 'track'}, neutral.cloneNode(),
          row.effect === data.neutral ? null : bar(place(data.neutral), place(row.effect), row.effect > data.neutral ? 'accent' : 'bad'),
          row.interval ? h('div', {class: 'whisker', style: {
            left: `${(100 * place(row.interval[0])).toFixed(2)}%`,
            width: `${(100 * (place(row.interval[1]) - place(row.interval[0]))).toFixed(2)}%`}}) : null)),
      h('span', {class: 'value'}, row.text))));
  body.append(h('div', {class: 'columns-head'}, h('span', {}, 'undone'), h('span', {}, data.effect_name)), list);
  if (rows.length > MOST) {
    const more = h('button', {type: 'button', class: 'more', onclick: () => {
      list.querySelectorAll('[hidden]').forEach((row) => { row.hidden = false; });
      more.remove();
    }}, `${rows.length - MOST} more`);
    body.append(more);
  }
}
