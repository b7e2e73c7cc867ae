// Occupancy over the plan's steps, and below it the address map: each tensor where and while it lies.
import * as Plot from '@observablehq/plot';
import {chart, style} from '../chart.js';
import {h, hideTip, showTip} from '../dom.js';
import {bytes, integer, percent, tick} from '../format.js';
import {color, onTheme} from '../theme.js';

const USES = [['loaded', '--use-loaded'], ['computed', '--use-computed'], ['copy', '--use-copy']];
const LEFT = 62;
const RIGHT = 16;

function occupancy(data) {
  const points = data.occupancy.map(([step, used]) => ({step, used}));
  const peak = points.reduce((best, point) => point.used > best.used ? point : best, {step: 0, used: 0});
  return chart(`occupancy, at most ${bytes(peak.used)} per partition`, (width) => Plot.plot({
    width, height: 200, style, marginLeft: LEFT, marginRight: RIGHT, marginTop: 30, marginBottom: 34,
    x: {domain: [0, data.steps], label: null, tickFormat: integer, ticks: Math.max(3, width / 140)},
    y: {domain: [0, data.bytes_per_partition], label: 'in use, per partition', tickFormat: tick(bytes), ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => share * data.bytes_per_partition), grid: true, labelArrow: 'none'},
    marks: [
      Plot.areaY(points, {x: 'step', y: 'used', curve: 'step-after', fill: 'var(--accent)', fillOpacity: 0.18}),
      Plot.lineY(points, {x: 'step', y: 'used', curve: 'step-after', stroke: 'var(--accent)', strokeWidth: 1.25}),
      Plot.ruleY([data.bytes_per_partition], {stroke: 'var(--ink)'}),
      Plot.dot([peak], {x: 'step', y: 'used', r: 3.5, fill: 'var(--accent)', stroke: 'var(--page)'}),
      Plot.text([peak], {frameAnchor: 'top-right', text: () => `peak ${bytes(peak.used)}, ${percent(peak.used / data.bytes_per_partition)}`, dy: -22, fill: 'var(--accent-text)', fontWeight: 600}),
    ],
  }));
}

function addressMap(data) {
  const canvas = h('canvas', {class: 'map', role: 'img', 'aria-label': `${data.rooms.length} buffers by step and address`});
  const holder = h('div', {class: 'chart'}, canvas);
  const rooms = data.rooms.map(([tensor, use, offset, size, start, end]) => ({tensor, use, offset, size, start, end}));
  const height = 300;
  const geometry = () => {
    const width = canvas.clientWidth;
    return {width, x: (step) => LEFT + (width - LEFT - RIGHT) * step / Math.max(1, data.steps), y: (offset) => height - 30 - (height - 40) * offset / data.bytes_per_partition};
  };
  const draw = () => {
    const {width, x, y} = geometry();
    if (width < 40) return;
    const scale = devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext('2d');
    context.scale(scale, scale);
    const fill = Object.fromEntries(USES.map(([use, name]) => [use, color(name)]));
    context.fillStyle = color('--well');
    context.fillRect(LEFT, 10, width - LEFT - RIGHT, height - 40);
    context.strokeStyle = color('--page');
    for (const room of rooms) {
      const [left, right, top, bottom] = [x(room.start), x(room.end), y(room.offset + room.size), y(room.offset)];
      context.fillStyle = fill[room.use];
      context.fillRect(left, top, Math.max(0.7, right - left), Math.max(0.7, bottom - top));
      if (right - left > 4 && bottom - top > 4) {
        context.lineWidth = 0.6;
        context.strokeRect(left, top, right - left, bottom - top);
      }
    }
    context.fillStyle = color('--muted');
    context.font = '12px ' + getComputedStyle(document.body).fontFamily;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (const share of [0, 0.5, 1]) context.fillText(tick(bytes)(share * data.bytes_per_partition), LEFT - 8, y(share * data.bytes_per_partition));
    context.textBaseline = 'top';
    context.textAlign = 'left';
    context.fillText('step 0', LEFT, height - 22);
    context.textAlign = 'right';
    context.fillText(`step ${integer(data.steps)}`, width - RIGHT, height - 22);
  };
  canvas.addEventListener('pointermove', (event) => {
    const {x, y} = geometry();
    const found = rooms.findLast((room) => event.offsetX >= x(room.start) && event.offsetX <= Math.max(x(room.end), x(room.start) + 1) && event.offsetY <= y(room.offset) && event.offsetY >= y(room.offset + room.size));
    if (!found) return hideTip();
    showTip(event.clientX, event.clientY, [found.tensor, `${found.use}, ${bytes(found.size)} per partition at ${bytes(found.offset)}`, `steps ${integer(found.start)} to ${integer(found.end)}`]);
  });
  canvas.addEventListener('pointerleave', hideTip);
  new ResizeObserver(draw).observe(holder);
  onTheme(draw);
  return holder;
}

export const title = 'The scratchpad';

export function render(body, data) {
  body.append(occupancy(data), h('p', {class: 'legend'}, USES.map(([use]) => h('span', {class: `swatch swatch-${use}`}, use === 'copy' ? 'copied for a layout' : use))), addressMap(data));
  if (data.left_out > 0) body.append(h('p', {class: 'small'}, `${integer(data.left_out)} small buffers are not drawn.`));
}
