// What a pass would do, site by site: sums by kind, a filter, and each rewrite's text.
import {bar} from '../chart.js';
import {h} from '../dom.js';
import {bytes, change, integer, plural} from '../format.js';

const AT_ONCE = 60;

function sums(sites) {
  const kinds = new Map();
  for (const site of sites) {
    const sum = kinds.get(site.kind) ?? {kind: site.kind, count: 0, ops: 0, bytes: 0};
    sum.count += 1;
    sum.ops += site.ops;
    sum.bytes += site.bytes;
    kinds.set(site.kind, sum);
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count);
}

function summary(sites) {
  const list = sums(sites);
  const most = Math.max(...list.map(({count}) => count), 1);
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'by kind'}, h('table', {}, h('thead', {}, h('tr', {}, h('th', {class: 'text'}, 'kind'), h('th', {}, 'rewrites'), h('th', {}, 'instructions'), h('th', {}, 'bytes accessed'))),
      h('tbody', {}, list.map((sum) => h('tr', {}, h('td', {class: 'text'}, sum.kind.replaceAll('_', ' ')),
          h('td', {class: 'share'}, h('div', {class: 'track'}, bar(0, sum.count / most, 'accent')), h('span', {}, integer(sum.count))),
          h('td', {}, change(sum.ops)), h('td', {}, (sum.bytes > 0 ? '+' : '') + bytes(Math.round(sum.bytes))))))));
}

const lines = (text, sign, tone) => text.split('\n').filter((line) => line.trim() !== '').map((line) => h('div', {class: `diff-${tone}`}, `${sign} ${line}`));

function row(site, number) {
  const status = site.status === 'ok' ? null : h('span', {class: 'chip'}, site.status);
  const details = h('details', {class: 'site'}, h('summary', {},
      h('span', {class: 'number'}, integer(number)), h('code', {class: 'name'}, site.instruction),
      h('span', {class: 'kind small'}, site.kind.replaceAll('_', ' '), site.reason ? ` · ${site.reason}` : ''), status,
      h('span', {class: `delta ${site.ops < 0 ? 'less' : site.ops > 0 ? 'more' : ''}`}, site.ops === 0 ? '±0' : change(site.ops))));
  details.addEventListener('toggle', () => {
    if (details.children.length > 1) return;
    details.append(h('div', {class: 'diff'}, h('p', {class: 'small'}, `in ${site.computation}`), lines(site.original, '−', 'less'), lines(site.replacement, '+', 'more'),
        site.replacement ? null : h('p', {class: 'small'}, 'Nothing takes its place.')));
  });
  return details;
}

export const title = 'Rewrite by rewrite';

export function render(body, data) {
  if (data.sites.length === 0) {
    body.append(h('p', {class: 'empty'}, `${data.pass} has nothing to do here.`));
    return;
  }
  const list = h('div', {class: 'sites'});
  const more = h('button', {type: 'button', class: 'more'});
  const count = h('span', {class: 'small', 'aria-live': 'polite'});
  let matching = [];
  let shown = 0;
  const show = () => {
    list.append(...matching.slice(shown, shown + AT_ONCE).map(([site, number]) => row(site, number)));
    shown = Math.min(matching.length, shown + AT_ONCE);
    more.hidden = shown === matching.length;
    more.textContent = `${integer(matching.length - shown)} more`;
  };
  const filter = (text) => {
    const wanted = text.trim().toLowerCase();
    matching = data.sites.map((site, i) => [site, i]).filter(([site]) => wanted === '' ||
        `${site.instruction} ${site.opcode} ${site.kind} ${site.status} ${site.computation} ${site.original} ${site.replacement}`.toLowerCase().includes(wanted));
    shown = 0;
    list.replaceChildren();
    count.textContent = plural(matching.length, 'rewrite');
    show();
  };
  more.addEventListener('click', show);
  body.append(summary(data.sites),
      h('div', {class: 'tools'}, h('input', {type: 'text', 'aria-label': 'filter rewrites', placeholder: 'filter: opcode, name, text', oninput: (event) => filter(event.target.value)}), count),
      list, more);
  if (data.left_out > 0) body.append(h('p', {class: 'small'}, `${integer(data.left_out)} further sites are not listed.`));
  filter('');
}
