// Ratios by program, the mean as it grows with steps, and every run in a table.
import * as Plot from '@observablehq/plot';
import {chart, style} from '../chart.js';
import {h} from '../dom.js';
import {integer, seconds, short, valueText} from '../format.js';

const shortName = (name) => name.replace(/\.(hlo|txt|pb)$/, '').split('/').slice(-2).join('/');
const ratioText = (ratio) => ratio.toFixed(3);

function byProgram(rows) {
  const programs = [...new Set(rows.map((row) => shortName(row.program)))];
  const mean = new Map(programs.map((name) => {
    const ratios = rows.filter((row) => shortName(row.program) === name && row.ratio !== null).map((row) => row.ratio);
    return [name, ratios.length > 0 ? Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(Math.max(ratio, 0.01)), 0) / ratios.length) : null];
  }));
  const known = programs.filter((name) => mean.get(name) !== null).sort((a, b) => mean.get(b) - mean.get(a));
  const dots = rows.filter((row) => row.ratio !== null).map((row) => ({...row, name: shortName(row.program)}));
  return chart('ratio by program', (width) => {
    const longest = Math.max(...known.map((name) => name.length), 4);
    const margin = Math.min(width * 0.45, 14 + longest * 7.2);
    const letters = Math.floor((margin - 14) / 7.2);
    return Plot.plot({
      width, height: 60 + 22 * known.length, style, marginLeft: margin, marginRight: 30, marginTop: 34,
      x: {label: 'ratio, above 1 is better than XLA’s own order', axis: 'top', grid: true, ticks: Math.max(3, width / 140), labelArrow: 'none', nice: true},
      y: {domain: known, label: null, tickSize: 0, tickFormat: (name) => name.length > letters ? `…${name.slice(1 - letters)}` : name},
      marks: [
        Plot.ruleX([1], {stroke: 'var(--ink)'}),
        Plot.dot(dots, {x: 'ratio', y: 'name', r: 3, stroke: 'var(--accent)', strokeOpacity: 0.55}),
        Plot.dot(known, {x: (name) => mean.get(name), y: (name) => name, r: 4, fill: 'var(--accent)'}),
        Plot.tip(dots, Plot.pointer({x: 'ratio', y: 'name', fill: 'var(--page)', stroke: 'var(--line)', title: (d) => `${d.name}, seed ${d.seed}\nratio ${ratioText(d.ratio)}\n${short(d.initial)} → ${short(d.value)} (XLA ${short(d.default)})`})),
      ],
    });
  });
}

function growth(curve) {
  const points = curve.map(([steps, mean, low, high]) => ({steps, mean, low, high}));
  return chart('mean ratio against steps', (width) => Plot.plot({
    width, height: 260, style, marginLeft: 52, marginRight: 20, marginTop: 30, marginBottom: 40,
    x: {label: 'steps evaluated', tickFormat: short, ticks: Math.max(3, width / 140), labelArrow: 'none'},
    y: {label: 'geometric mean of the ratio', grid: true, ticks: 5, labelArrow: 'none'},
    marks: [
      Plot.ruleY([1], {stroke: 'var(--ink)'}),
      Plot.areaY(points, {x: 'steps', y1: 'low', y2: 'high', fill: 'var(--accent)', fillOpacity: 0.14}),
      Plot.lineY(points, {x: 'steps', y: 'mean', stroke: 'var(--accent)', strokeWidth: 2}),
      Plot.tip(points, Plot.pointerX({x: 'steps', y: 'mean', fill: 'var(--page)', stroke: 'var(--line)', title: (d) => `${ratioText(d.mean)} [${ratioText(d.low)}, ${ratioText(d.high)}]\nafter ${integer(d.steps)} steps`})),
    ],
  }));
}

function table(data) {
  const text = valueText(data.objective === 'op_count' ? 'instructions' : data.objective);
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'runs'}, h('table', {},
      h('thead', {}, h('tr', {}, h('th', {class: 'text'}, 'program'), ['seed', 'as given', 'XLA', 'result', 'ratio', 'steps', 'time', 'verified'].map((name) => h('th', {}, name)))),
      h('tbody', {}, data.rows.map((row) => h('tr', {}, h('td', {class: 'text'}, h('code', {class: 'name'}, shortName(row.program))), h('td', {}, String(row.seed)),
          h('td', {}, text(row.initial)), h('td', {}, text(row.default)), h('td', {}, text(row.value)), h('td', {}, row.ratio === null ? '–' : ratioText(row.ratio)),
          h('td', {}, integer(row.evaluated)), h('td', {}, seconds(row.seconds)), h('td', {}, row.verified === 'true' ? 'yes' : row.verified === 'false' ? 'no' : row.verified))))));
}

export const title = 'Program by program';

export function render(body, data) {
  if (data.rows.some((row) => row.ratio !== null)) body.append(h('figure', {}, byProgram(data.rows)));
  if (data.curve.length > 1) body.append(h('figure', {}, h('figcaption', {}, 'With more steps, the mean over programs and its 95 % interval'), growth(data.curve)));
  body.append(table(data));
}
