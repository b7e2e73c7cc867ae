// The graph's model, layout and search, without a browser: node --test layout_test.mjs
import assert from 'node:assert/strict';
import test from 'node:test';
import {layout} from '../../src/report/web/app/graph/layout.js';
import {CHANGED, compare, ONLY_HERE, Program, SAME} from '../../src/report/web/app/graph/model.js';
import {flatten, itemAt} from '../../src/report/web/app/graph/scene.js';
import {program} from './synthetic.mjs';

const arrange = (of, open = () => false, options = {}) => flatten(layout(of, of.entry, {constants: true, shown: null, isOpen: open, ...options}));

function overlaps(items) {
  const sorted = [...items].sort((a, b) => a.y - b.y);
  let found = 0;
  for (let i = 0; i < sorted.length; ++i) {
    for (let j = i + 1; j < sorted.length && sorted[j].y < sorted[i].y + sorted[i].h - 0.01; ++j) {
      if (sorted[i].x < sorted[j].x + sorted[j].w - 0.01 && sorted[j].x < sorted[i].x + sorted[i].w - 0.01) ++found;
    }
  }
  return found;
}

test('no instruction lies on another, and all lie within the whole', () => {
  for (const count of [1, 2, 30, 700, 4000]) {
    const of = new Program(program(count));
    const scene = arrange(of);
    assert.equal(scene.leaves.length, of.computations.at(-1).size);
    assert.equal(overlaps(scene.leaves), 0, `${count} instructions`);
    for (const {x, y, w, h} of scene.leaves) assert.ok(x >= -0.01 && y >= -0.01 && x + w <= scene.w + 0.01 && y + h <= scene.h + 0.01);
  }
});

test('within a column operands lie above their users', () => {
  const scene = arrange(new Program(program(900)));
  assert.ok(scene.edges.length > 0);
  for (const {y1, y2} of scene.edges) assert.ok(y1 < y2);
});

test('what is open lies within its caller', () => {
  const of = new Program(program(400));
  const scene = arrange(of, () => true);
  assert.equal(scene.boxes.length, of.called.size);
  assert.equal(overlaps(scene.leaves), 0);
  for (const box of scene.boxes) {
    const inside = scene.leaves.filter((leaf) => leaf.path.startsWith(`${box.path}/`));
    assert.equal(inside.length, 10);
    for (const {x, y, w, h} of inside) assert.ok(x >= box.x && y >= box.y && x + w <= box.x + box.w && y + h <= box.y + box.h);
  }
});

test('what lies at a place is found', () => {
  const scene = arrange(new Program(program(500)));
  for (const leaf of scene.leaves) assert.equal(itemAt(scene, leaf.x + leaf.w / 2, leaf.y + leaf.h / 2), leaf);
  assert.equal(itemAt(scene, -50, -50), null);
});

test('the same program is laid out the same', () => {
  const places = () => arrange(new Program(program(800))).leaves.map(({x, y}) => [x, y]);
  assert.deepEqual(places(), places());
});

test('constants are left out, but for those that are all there is', () => {
  const of = new Program(program(300));
  const shown = arrange(of, () => false, {constants: false}).leaves.filter(({i}) => of.opcodeOf(i) === 'constant');
  for (const {i} of shown) assert.equal(of.usersOf(i).length, 0);
});

test('two programs are compared by name', () => {
  const before = new Program(program(600));
  const after = new Program(program(600, {skip: 0.2}));
  compare(before, after);
  const names = new Set(after.names);
  assert.ok(before.status.includes(ONLY_HERE) && before.status.includes(CHANGED) && before.status.includes(SAME));
  before.names.forEach((name, i) => assert.equal(before.status[i] === ONLY_HERE, !names.has(name)));
  const itself = new Program(program(600));
  compare(before, itself);
  assert.ok(before.status.every((status) => status === SAME));
});

test('search finds by name, opcode and shape, all words together', () => {
  const of = new Program(program(500));
  assert.ok(of.search('dot 8,128').length > 0);
  assert.ok(of.search('dot 8,128').every((i) => of.opcodeOf(i) === 'dot' || of.names[i].includes('dot')));
  assert.deepEqual(of.search('dot nowhere'), []);
  assert.deepEqual(of.search('  '), []);
});

test('the way to an instruction leads through its callers', () => {
  const of = new Program(program(500));
  const [call, [callee]] = [...of.called][0];
  assert.deepEqual(of.callsTo(of.computations[callee].first), [call]);
  assert.deepEqual(of.callsTo(call), []);
});
