// The best so far, as steps: against evaluations or seconds.
import * as Plot from '@observablehq/plot';
import {chart, style} from '../chart.js';
import {h, segments} from '../dom.js';
import {integer, seconds, short, tick, valueText} from '../format.js';

export const title = 'Best so far';

export function render(body, data) {
  const text = data.value_name === 'speed-up' ? (value) => `${value.toFixed(3)}×` : valueText(data.value_name);
  const points = data.points.map(([evaluated, time, value]) => ({evaluated, time, value}));
  if (points.length === 0) {
    points.push({evaluated: 0, time: 0, value: data.start});
  } else if (points[0].evaluated > 0 && data.value_name === 'speed-up') {
    points.unshift({evaluated: 0, time: 0, value: data.start});
  }
  const last = points.at(-1);
  const line = [...points, {evaluated: Math.max(data.evaluated, last.evaluated), time: Math.max(data.seconds, last.time), value: last.value}];
  let along = 'evaluated';
  const values = [...points.map(({value}) => value), ...data.levels.map(({value}) => value)];
  const spread = Math.max(...values) - Math.min(...values) || Math.abs(values[0]) * 0.1 || 1;
  // The names of levels stand above their lines.
  const byALevel = data.levels.some(({value}) => Math.abs(value - last.value) < 0.15 * spread);
  const drawing = chart(`best so far: ${text(last.value)} ${data.value_name}`, (width) => Plot.plot({
    width, height: Math.round(Math.min(320, Math.max(220, width * 0.32))), style,
    marginLeft: 62, marginRight: 24, marginTop: 30, marginBottom: 40,
    x: {label: along === 'evaluated' ? data.evaluations_name : 'seconds', ticks: Math.max(3, width / 140), tickFormat: tick(short),
      labelArrow: 'none', labelAnchor: 'right'},
    y: {label: data.value_name, ticks: 5, tickFormat: text, grid: true, labelArrow: 'none',
      domain: [Math.min(...values) - 0.2 * spread, Math.max(...values) + 0.12 * spread]},
    marks: [
      Plot.ruleY(data.levels, {y: 'value', stroke: 'var(--muted)', strokeDasharray: '4 4'}),
      Plot.text(data.levels, {y: 'value', text: 'label', frameAnchor: 'right', dy: -8, fill: 'var(--muted)', textAnchor: 'end'}),
      Plot.lineY(line, {x: along, y: 'value', curve: 'step-after', stroke: 'var(--accent)', strokeWidth: 2}),
      Plot.dot(points, {x: along, y: 'value', r: 3, fill: 'var(--accent)', stroke: 'var(--page)', strokeWidth: 1}),
      Plot.text([line.at(-1)], {x: along, y: 'value', text: (d) => text(d.value), textAnchor: 'end', dx: 0,
        dy: data.lower_is_better || byALevel ? 14 : -10, fill: 'var(--accent-text)', fontWeight: 600}),
      Plot.tip(points, Plot.pointerX({x: along, y: 'value', fill: 'var(--page)', stroke: 'var(--line)',
        title: (d) => `${text(d.value)} ${data.value_name}\nafter ${integer(d.evaluated)} ${data.evaluations_name.replace(/ evaluated$/, '')}, ${seconds(d.time)}`})),
    ],
  }));
  body.append(h('div', {class: 'tools'}, segments('horizontal axis', [['evaluated', 'evaluations'], ['time', 'time']], along, (value) => {
    along = value;
    drawing.redraw();
  })), drawing);
}
