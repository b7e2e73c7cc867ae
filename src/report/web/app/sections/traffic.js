// Bytes to and from DRAM: the ways to plan against each other, and tensor by tensor.
import {bar} from '../chart.js';
import {h} from '../dom.js';
import {bytes, integer, percent, seconds} from '../format.js';

const MOST_ROWS = 15;

function ways(data) {
  const most = Math.max(...data.ways.map((way) => way.bytes), 1);
  const bound = data.ways.at(-1).bytes;
  return h('ol', {class: 'worth ways'}, data.ways.map((way) => h('li', {class: 'worth-row'},
      h('div', {class: 'what'}, h('span', {class: way.ours ? 'name ours' : 'name'}, way.name)),
      h('div', {class: 'amount'}, h('div', {class: 'track'}, bar(0, way.bytes / most, way.ours ? 'accent' : 'plain'))),
      h('span', {class: 'value'}, bytes(way.bytes)),
      h('span', {class: 'delta'}, bound > 0 ? `${(way.bytes / bound).toFixed(2)}× bound` : ''),
      h('span', {class: 'delta'}, way.seconds === null ? '' : seconds(way.seconds)))));
}

function tensors(data, most) {
  const total = data.tensors.reduce((sum, row) => sum + row[3] + row[4], 0);
  const largest = data.tensors.length > 0 ? data.tensors[0][3] + data.tensors[0][4] : 1;
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'tensors'}, h('table', {},
      h('thead', {}, h('tr', {}, h('th', {class: 'text'}, 'tensor'), h('th', {class: 'text'}, 'is'), ['size', 'loaded', 'stored', 'of all traffic'].map((name) => h('th', {}, name)))),
      h('tbody', {}, data.tensors.slice(0, most).map(([name, role, size, loaded, stored]) => h('tr', {},
          h('td', {class: 'text'}, h('code', {class: 'name'}, name)), h('td', {class: 'text'}, role), h('td', {}, bytes(size)), h('td', {}, bytes(loaded)), h('td', {}, bytes(stored)),
          h('td', {class: 'share'}, h('div', {class: 'track'}, bar(0, loaded / largest, 'accent'), stored > 0 ? bar(loaded / largest, (loaded + stored) / largest, 'second') : null), h('span', {}, percent(total > 0 ? (loaded + stored) / total : 0))))))));
}

export const title = 'Traffic';

export function render(body, data) {
  const holder = h('div', {}, tensors(data, MOST_ROWS));
  body.append(ways(data), h('p', {class: 'legend'}, h('span', {class: 'swatch swatch-accent'}, 'loaded'), h('span', {class: 'swatch swatch-second'}, 'stored')), holder);
  const rest = data.tensors.length - MOST_ROWS;
  if (rest > 0) {
    const more = h('button', {type: 'button', class: 'more', onclick: () => {
      holder.replaceChildren(tensors(data, data.tensors.length));
      more.remove();
    }}, `${integer(rest)} more`);
    body.append(more);
  }
}
