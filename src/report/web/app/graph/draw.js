// Draws a scene on a canvas, as much of it as is in sight and can be told apart.
import {color} from '../theme.js';
import {lowerBound} from './scene.js';
import {CHANGED, ONLY_HERE, SAME} from './model.js';

const NAMES = ['ink', 'muted', 'line', 'page', 'well', 'accent', 'edge', 'select', 'hit', 'node', 'kind-product', 'kind-elementwise', 'kind-reduce', 'kind-move', 'kind-call', 'kind-leaf', 'status-only', 'status-only-before', 'status-changed', 'status-same'];
const STUB = 16;

export function palette() {
  return Object.fromEntries(NAMES.map((name) => [name, color(`--${name}`)]));
}

// view: {k, x, y} maps the scene to pixels. state: program, colors ('status' or 'kind'), isBefore, hits (Set of
// instructions), selected (item or null), palette, font.
export function draw(context, width, height, scene, view, state) {
  const {palette: p} = state;
  const {k} = view;
  context.clearRect(0, 0, width, height);
  const left = -view.x / k;
  const top = -view.y / k;
  const right = left + width / k;
  const bottom = top + height / k;
  context.save();
  context.translate(view.x, view.y);
  context.scale(k, k);

  for (const box of scene.boxes) {
    if (box.x > right || box.x + box.w < left || box.y > bottom || box.y + box.h < top) continue;
    context.fillStyle = p.well;
    context.strokeStyle = state.selected?.path === box.path ? p.select : p.line;
    context.lineWidth = state.selected?.path === box.path ? 2 / k : 1 / k;
    rounded(context, box.x, box.y, box.w, box.h, 8);
    context.fill();
    context.stroke();
    if (k > 0.28) {
      context.fillStyle = p.muted;
      context.font = `600 12px ${state.font}`;
      context.textBaseline = 'middle';
      context.fillText(clip(`▾ ${state.program.names[box.i]}`, box.w - 16), box.x + 10, box.y + 14);
    }
  }

  drawEdges(context, scene, {left, right, top, bottom}, k, p);
  const first = lowerBound(scene.leaves, 'y', top - scene.tallest);
  for (let n = first; n < scene.leaves.length && scene.leaves[n].y <= bottom; ++n) {
    const leaf = scene.leaves[n];
    if (leaf.x > right || leaf.x + leaf.w < left) continue;
    drawLeaf(context, leaf, k, state);
  }
  if (state.selected) drawSelection(context, scene, k, state);
  context.restore();
}

function drawEdges(context, scene, sight, k, p) {
  context.strokeStyle = p.edge;
  context.lineWidth = Math.max(1, 0.6 / k);
  context.globalAlpha = k < 0.15 ? 0.35 : 0.75;
  context.beginPath();
  const straight = k < 0.2;
  for (let n = lowerBound(scene.edges, 'y1', sight.top - scene.longest); n < scene.edges.length && scene.edges[n].y1 <= sight.bottom; ++n) {
    const {x1, y1, x2, y2} = scene.edges[n];
    if (y2 < sight.top || Math.max(x1, x2) < sight.left || Math.min(x1, x2) > sight.right) continue;
    context.moveTo(x1, y1);
    if (straight) context.lineTo(x2, y2);
    else curve(context, x1, y1, x2, y2);
  }
  context.stroke();
  if (k > 0.12) {
    context.setLineDash([2.5, 2.5]);
    context.beginPath();
    for (const {x1, y1, x2, y2} of scene.longEdges) {
      if (y1 < sight.bottom && y1 + STUB > sight.top && x1 > sight.left && x1 < sight.right) {
        context.moveTo(x1, y1);
        context.lineTo(x1 + Math.sign(x2 - x1) * 5, y1 + STUB);
      }
      if (y2 > sight.top && y2 - STUB < sight.bottom && x2 > sight.left && x2 < sight.right) {
        context.moveTo(x2, y2);
        context.lineTo(x2 - Math.sign(x2 - x1) * 5, y2 - STUB);
      }
    }
    context.stroke();
    context.setLineDash([]);
  }
  context.globalAlpha = 1;
}

function tint(leaf, state) {
  const {palette: p, program} = state;
  if (state.colors === 'kind') return p[`kind-${program.kindOf(leaf.i)}`];
  const status = program.status[leaf.i];
  return status === ONLY_HERE ? p[state.isBefore ? 'status-only-before' : 'status-only'] : status === CHANGED ? p['status-changed'] : p['status-same'];
}

function drawLeaf(context, leaf, k, state) {
  const {palette: p, program} = state;
  const tone = tint(leaf, state);
  const hit = state.hits?.has(leaf.i);
  if (k < 0.22) {
    context.fillStyle = hit ? p.hit : tone;
    const grow = hit ? 3 / k : 0;
    context.fillRect(leaf.x - grow, leaf.y - grow, leaf.w + 2 * grow, leaf.h + 2 * grow);
    return;
  }
  const quiet = state.colors === 'status' && program.status[leaf.i] === SAME;
  context.fillStyle = p.node;
  rounded(context, leaf.x, leaf.y, leaf.w, leaf.h, leaf.h < 30 ? 11 : 6);
  context.fill();
  context.globalAlpha = quiet ? 0.06 : 0.2;
  context.fillStyle = tone;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = hit ? 2.5 : 1;
  context.strokeStyle = hit ? p.hit : tone;
  context.stroke();
  if (k < 0.4) return;
  const callees = program.called.get(leaf.i);
  context.textBaseline = 'middle';
  context.fillStyle = p.ink;
  context.font = `${leaf.h < 30 ? 400 : 600} 11.5px ${state.font}`;
  const name = (callees ? '▸ ' : '') + program.names[leaf.i];
  context.fillText(clip(name, leaf.w - 14), leaf.x + 8, leaf.h < 30 ? leaf.y + leaf.h / 2 : leaf.y + 12);
  if (leaf.h >= 30 && k > 0.5) {
    context.fillStyle = p.muted;
    context.font = `400 10.5px ${state.font}`;
    context.fillText(clip(program.shapeOf(leaf.i).replace(/\{[\d,]*\}/g, ''), leaf.w - 12, 5.7), leaf.x + 8, leaf.y + 26);
  }
}

// The selected instruction with all of its edges, however long.
function drawSelection(context, scene, k, state) {
  const {palette: p, selected} = state;
  context.strokeStyle = p.select;
  context.lineWidth = 1.75 / Math.min(1, Math.max(k, 0.3));
  for (const list of [scene.edges, scene.longEdges]) {
    context.beginPath();
    for (const {a, b, x1, y1, x2, y2} of list) {
      if (a.path !== selected.path && b.path !== selected.path) continue;
      context.moveTo(x1, y1);
      curve(context, x1, y1, x2, y2);
    }
    context.stroke();
  }
  context.lineWidth = 2.5 / Math.min(1, k);
  rounded(context, selected.x, selected.y, selected.w, selected.h, 6);
  context.stroke();
}

function curve(context, x1, y1, x2, y2) {
  const bend = Math.min(60, Math.max(14, Math.abs(y2 - y1) / 2));
  context.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
}

function rounded(context, x, y, w, h, radius) {
  context.beginPath();
  context.roundRect(x, y, w, h, radius);
}

const clip = (text, width, letter = 6.3) => {
  const letters = Math.max(1, Math.floor(width / letter));
  return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
};
