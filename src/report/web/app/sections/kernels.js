// Kernels on a roofline, measured against predicted, and the dearest in a table.
import * as Plot from '@observablehq/plot';
import {bar, chart, style} from '../chart.js';
import {h, segments} from '../dom.js';
import {bytes, decades, integer, percent, plural, seconds, short, tick} from '../format.js';

const MOST_ROWS = 12;

function rows(run) {
  const total = run.kernels.reduce((sum, row) => sum + row[3], 0);
  return run.kernels.map(([name, opcode, calls, time, flops, moved, predicted]) => ({
    name, opcode, calls, time, flops, moved, predicted, share: total > 0 ? time / total : 0, run: run.label,
    intensity: moved > 0 ? flops / moved : 0, rate: time > 0 ? flops / time : 0,
  })).sort((a, b) => b.time - a.time);
}

const tones = (runs) => ({domain: runs.map(({label}) => label), range: runs.length === 1 ? ['var(--accent)'] : ['var(--before)', 'var(--accent)']});
const tipOf = (d) => `${d.name}\n${d.opcode}, ${plural(d.calls, 'call')}\n${seconds(d.time)}, ${percent(d.share)} of the run\n${short(d.flops)} operations, ${bytes(d.moved)}`;
const tip = (points, options) => Plot.tip(points, Plot.pointer({...options, title: tipOf, fill: 'var(--page)', stroke: 'var(--line)'}));

function roofline(data, all) {
  const points = all.filter((row) => row.intensity > 0 && row.rate > 0);
  const ridge = data.flops_per_second / data.bytes_per_second;
  const low = Math.min(ridge / 30, ...points.map((row) => row.intensity / 2));
  const high = Math.max(ridge * 10, ...points.map((row) => row.intensity * 2));
  const roof = [low, ridge, high].map((x) => ({x, y: Math.min(data.flops_per_second, x * data.bytes_per_second)}));
  const bottom = Math.min(...points.map((row) => row.rate / 2), data.flops_per_second / 100);
  return chart(`roofline of ${points.length} kernels`, (width) => Plot.plot({
    width, height: Math.round(Math.max(260, Math.min(380, width * 0.62))), style, marginLeft: 58, marginTop: 30, marginBottom: 42, marginRight: 30,
    x: {type: 'log', domain: [low, high], label: 'operations per byte', tickFormat: tick(short), ticks: decades(low, high, width / 70), labelArrow: 'none'},
    y: {type: 'log', domain: [bottom, 1.4 * data.flops_per_second], clamp: true, label: 'operations per second', tickFormat: tick(short), ticks: decades(bottom, 1.4 * data.flops_per_second, 6), grid: true, labelArrow: 'none'},
    color: tones(data.runs), r: {range: [1.5, 11], domain: [0, Math.max(...all.map((row) => row.share))]},
    marks: [
      Plot.line(roof, {x: 'x', y: 'y', stroke: 'var(--ink)', strokeWidth: 1.5}),
      Plot.dot(points, {x: 'intensity', y: 'rate', r: 'share', fill: 'run', fillOpacity: 0.55, stroke: 'run', strokeWidth: 0.75}),
      Plot.text([roof[2]], {x: 'x', y: 'y', dy: -9, textAnchor: 'end', text: () => `${short(data.flops_per_second)}FLOP/s, ${bytes(data.bytes_per_second)}/s`, fill: 'var(--ink)'}),
      tip(points, {x: 'intensity', y: 'rate'}),
    ],
  }));
}

function predicted(data, all) {
  const points = all.filter((row) => row.predicted > 0 && row.time > 0);
  const ends = points.flatMap((row) => [row.predicted, row.time]);
  if (ends.length === 0) return null;
  const [low, high] = [Math.min(...ends) / 1.5, Math.max(...ends) * 1.5];
  return chart(`measured against predicted time of ${points.length} kernels`, (width) => Plot.plot({
    width, height: Math.round(Math.max(260, Math.min(380, width * 0.62))), style, marginLeft: 58, marginTop: 30, marginBottom: 42, marginRight: 30,
    x: {type: 'log', domain: [low, high], label: 'predicted by the roofline', tickFormat: tick(seconds), ticks: decades(low, high, width / 80), labelArrow: 'none'},
    y: {type: 'log', domain: [low, high], label: 'measured', tickFormat: tick(seconds), ticks: decades(low, high, 7), grid: true, labelArrow: 'none'},
    color: tones(data.runs), r: {range: [1.5, 11], domain: [0, Math.max(...all.map((row) => row.share))]},
    marks: [
      Plot.line([low, high], {x: (d) => d, y: (d) => d, stroke: 'var(--ink)', strokeWidth: 1.5}),
      Plot.dot(points, {x: 'predicted', y: 'time', r: 'share', fill: 'run', fillOpacity: 0.55, stroke: 'run', strokeWidth: 0.75}),
      Plot.text([low], {x: (d) => d, y: (d) => d, text: () => 'as predicted', textAnchor: 'start', dx: 26, dy: -6, fill: 'var(--ink)'}),
      tip(points, {x: 'predicted', y: 'time'}),
    ],
  }));
}

function table(run) {
  const list = rows(run);
  const shown = list.slice(0, MOST_ROWS);
  const rest = list.slice(MOST_ROWS);
  const most = shown[0]?.share ?? 1;
  const cells = (row) => h('tr', {},
      h('td', {class: 'text'}, h('code', {class: 'name'}, row.name)), h('td', {}, integer(row.calls)), h('td', {}, seconds(row.time)),
      h('td', {class: 'share'}, h('div', {class: 'track'}, bar(0, row.share / most, 'accent')), h('span', {}, percent(row.share))),
      h('td', {}, row.rate > 0 ? `${short(row.rate)}FLOP/s` : '–'),
      h('td', {}, row.time > 0 && row.moved > 0 ? `${bytes(row.moved / row.time)}/s` : '–'),
      h('td', {}, row.predicted > 0 ? seconds(row.predicted) : '–'));
  const sum = (field) => rest.reduce((all, row) => all + row[field], 0);
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'kernels'}, h('table', {},
      h('thead', {}, h('tr', {}, h('th', {class: 'text'}, 'kernel'), ['calls', 'time', 'share', 'computes', 'moves', 'predicted'].map((name) => h('th', {}, name)))),
      h('tbody', {}, shown.map(cells), rest.length > 0 ? h('tr', {class: 'rest'}, h('td', {class: 'text'}, `${integer(rest.length)} more`),
          h('td', {}, integer(sum('calls'))), h('td', {}, seconds(sum('time'))), h('td', {class: 'share'}, h('div', {class: 'track'}), h('span', {}, percent(sum('share')))),
          h('td', {}), h('td', {}), h('td', {})) : null)));
}

export const title = 'Where the time goes';

export function render(body, data) {
  const all = data.runs.flatMap(rows);
  const legend = data.runs.length > 1 ? h('p', {class: 'legend'}, data.runs.map((run, i) => {
    const total = run.kernels.reduce((sum, row) => sum + row[3], 0);
    return h('span', {class: i === 0 ? 'swatch swatch-before' : 'swatch swatch-accent'}, `${run.label}: ${seconds(total)} in ${plural(run.kernels.length, 'kernel')}`);
  })) : null;
  const still = all.filter((row) => !(row.intensity > 0)).length;
  body.append(...[legend,
    h('div', {class: 'pair'}, h('figure', {}, h('figcaption', {}, 'On the roofline'), roofline(data, all)),
        h('figure', {}, h('figcaption', {}, 'Measured against predicted'), predicted(data, all))),
    still > 0 ? h('p', {class: 'small'}, `${plural(still, 'kernel')} that only move data ${still === 1 ? 'is' : 'are'} not on the roofline.`) : null].filter(Boolean));
  const holder = h('div', {}, table(data.runs.at(-1)));
  if (data.runs.length > 1) {
    body.append(h('div', {class: 'tools'}, segments('run', data.runs.map((run, i) => [i, run.label]), data.runs.length - 1, (i) => holder.replaceChildren(table(data.runs[i])))));
  }
  body.append(holder);
}
