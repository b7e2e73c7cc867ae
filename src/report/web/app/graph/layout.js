// Layers from operands down to users, and places within them: for thousands of instructions at once.
//
// Ranks are longest paths; then what would not make its edges longer moves down to just above its first
// user: inputs lie where they are used. Within layers, the order is improved by barycentres of neighbours
// in both directions, and x by least squares with minimal distances (pool adjacent violators). A layer
// that is too wide takes several rows, and a strand that is too long several columns, as print does.
// Edges have no bends: no dummy nodes, so it stays linear. A computation that is open lies in its caller,
// laid out the same way.

const GAP_X = 14;
const GAP_Y = 34;
const HEIGHT = 36;
const LEAF_HEIGHT = 22;
const PADDING = 18;
const TITLE = 24;
const SWEEPS = 6;
const LETTER = 6.7;
const COLUMN_GAP = 120;
const SHAPE = 1.35;       // width by height
const FEWEST_ROWS = 24;   // of what is cut into columns

const widthOf = (text, most) => Math.min(most, Math.max(56, 18 + LETTER * text.length));

// options: constants (are they shown), isOpen(path), shown (null, or a Set of instructions).
// A path names an instruction by the calls that lead to it: "12/56".
export function layout(program, computation, options, path = '') {
  const {first, size} = program.computations[computation];
  const nodes = [];
  const placeOf = new Int32Array(size).fill(-1);
  for (let i = first; i < first + size; ++i) {
    if (!isShown(program, i, options)) continue;
    placeOf[i - first] = nodes.length;
    nodes.push(makeNode(program, i, options, path));
  }
  const edges = [];
  nodes.forEach((node, place) => {
    const seen = new Set();
    for (const operand of program.operandsOf(node.i)) {
      const from = placeOf[operand - first];
      if (from < 0 || seen.has(from)) continue;
      seen.add(from);
      edges.push([from, place]);
    }
  });
  const layers = rank(nodes, edges);
  order(nodes, edges, layers);
  const box = place(nodes, edges, layers);
  return {computation, path, nodes, edges: edges.map(([from, to]) => [nodes[from], nodes[to]]), ...box};
}

function isShown(program, i, options) {
  if (options.shown && !options.shown.has(i)) return false;
  return options.constants || program.opcodeOf(i) !== 'constant' || program.usersOf(i).length === 0;
}

function makeNode(program, i, options, path) {
  const own = path === '' ? String(i) : `${path}/${i}`;
  const callees = program.called.get(i);
  const node = {i, path: own, x: 0, y: 0, w: 0, h: HEIGHT, rank: 0, column: 0, bodies: null};
  const leaf = program.opcodeOf(i) === 'parameter' || program.opcodeOf(i) === 'constant';
  if (callees && options.isOpen(own)) {
    node.bodies = callees.map((callee, k) => layout(program, callee, {...options, shown: null}, callees.length > 1 ? `${own}:${k}` : own));
    let x = PADDING;
    let most = 0;
    for (const body of node.bodies) {
      body.x = x;
      body.y = TITLE + PADDING;
      x += body.w + PADDING;
      most = Math.max(most, body.h);
    }
    node.w = Math.max(x, widthOf(program.names[i], 260) + 30);
    node.h = most + TITLE + 2 * PADDING;
  } else {
    node.w = leaf ? widthOf(program.names[i], 150) : Math.max(widthOf(program.names[i], 190) + (callees ? 16 : 0), Math.min(190, 18 + 6 * program.shapeOf(i).replace(/\{[\d,]*\}/g, '').length));
    node.h = leaf ? LEAF_HEIGHT : HEIGHT;
  }
  return node;
}

function rank(nodes, edges) {
  const operands = new Int32Array(nodes.length);
  const users = new Int32Array(nodes.length);
  for (const [from, to] of edges) {
    operands[to] += 1;
    users[from] += 1;
  }
  // Made of inputs that nothing else uses: it can move with all that it is made of.
  const floats = new Uint8Array(nodes.length).fill(1);
  // Edges come by user, and operands before users: one pass is enough.
  for (const [from, to] of edges) {
    nodes[to].rank = Math.max(nodes[to].rank, nodes[from].rank + 1);
    if (!floats[from] || (users[from] > 1 && operands[from] > 0)) floats[to] = 0;
  }
  const lowest = new Int32Array(nodes.length).fill(-1);  // the first user's rank, -1 where there is none
  for (let e = edges.length - 1, n = nodes.length - 1; n >= 0; --n) {
    if (lowest[n] >= 0 && (floats[n] || operands[n] <= users[n])) nodes[n].rank = lowest[n] - 1;
    for (; e >= 0 && edges[e][1] === n; --e) {
      const from = edges[e][0];
      if (lowest[from] < 0 || lowest[from] > nodes[n].rank) lowest[from] = nodes[n].rank;
    }
  }
  const layers = [];
  nodes.forEach((node, n) => (layers[node.rank] ??= []).push(n));
  for (let r = 0; r < layers.length; ++r) layers[r] ??= [];
  return layers;
}

// Neighbours as flat arrays: [start, list], of operands or of users.
function neighbours(count, edges, from, to) {
  const start = new Int32Array(count + 1);
  for (const edge of edges) start[edge[to] + 1] += 1;
  for (let n = 0; n < count; ++n) start[n + 1] += start[n];
  const next = start.slice();
  const list = new Int32Array(edges.length);
  for (const edge of edges) list[next[edge[to]]++] = edge[from];
  return {start, list};
}

function order(nodes, edges, layers) {
  const up = neighbours(nodes.length, edges, 0, 1);
  const down = neighbours(nodes.length, edges, 1, 0);
  // Places as shares of the layer's middle, so that wide and narrow layers can be compared.
  const at = new Float64Array(nodes.length);
  const settle = (layer) => layer.forEach((n, k) => { at[n] = k - (layer.length - 1) / 2; });
  layers.forEach(settle);
  const key = new Float64Array(nodes.length);
  const sweep = (list, side) => {
    for (const layer of list) {
      if (layer.length < 2) continue;
      for (const n of layer) {
        let sum = 0;
        let weight = 0;
        for (let k = side.start[n]; k < side.start[n + 1]; ++k) {
          const share = 1 / Math.abs(nodes[n].rank - nodes[side.list[k]].rank);
          sum += share * at[side.list[k]];
          weight += share;
        }
        key[n] = weight > 0 ? sum / weight : at[n];
      }
      layer.sort((a, b) => key[a] - key[b] || at[a] - at[b]);
      settle(layer);
    }
  };
  const backwards = layers.slice().reverse();
  for (let s = 0; s < SWEEPS; ++s) sweep(s % 2 === 0 ? layers : backwards, s % 2 === 0 ? up : down);
}

function place(nodes, edges, layers) {
  const both = [neighbours(nodes.length, edges, 0, 1), neighbours(nodes.length, edges, 1, 0)];
  const center = new Float64Array(nodes.length);
  const rows = layers.flatMap((layer) => split(layer, nodes, widest(nodes)));
  for (const layer of rows) {
    let x = 0;
    for (const n of layer) {
      center[n] = x + nodes[n].w / 2;
      x += nodes[n].w + GAP_X;
    }
    for (const n of layer) center[n] -= x / 2;
  }
  const wanted = new Float64Array(nodes.length);
  for (let round = 0; round < 2 * SWEEPS; ++round) {
    const forwards = round % 2 === 0;
    for (let r = 0; r < rows.length; ++r) {
      const layer = rows[forwards ? r : rows.length - 1 - r];
      for (const n of layer) {
        let sum = 0;
        let weight = 0;
        both.forEach((side, s) => {
          for (let k = side.start[n]; k < side.start[n + 1]; ++k) {
            const other = side.list[k];
            const share = ((s === 0) === forwards ? 1 : 0.25) / Math.abs(nodes[n].rank - nodes[other].rank);
            sum += share * center[other];
            weight += share;
          }
        });
        wanted[n] = weight > 0 ? sum / weight : center[n];
      }
      spread(layer, nodes, wanted, center);
    }
  }
  let y = 0;
  const bands = [];  // by row: its place and extent
  for (const row of rows) {
    if (row.length === 0) continue;
    const tallest = row.reduce((most, n) => Math.max(most, nodes[n].h), 0);
    let low = Infinity;
    let high = -Infinity;
    for (const n of row) {
      nodes[n].y = y + tallest - nodes[n].h;
      nodes[n].x = center[n] - nodes[n].w / 2;
      low = Math.min(low, nodes[n].x);
      high = Math.max(high, nodes[n].x + nodes[n].w);
    }
    bands.push({row, y, bottom: y + tallest, low, high});
    y += tallest + GAP_Y + Math.min(60, 3 * Math.sqrt(row.length));
  }
  return fold(nodes, bands);
}

// Puts the rows into as many columns as bring the whole nearest to the shape of a page.
function fold(nodes, bands) {
  if (bands.length === 0) return {x: 0, y: 0, w: 0, h: 0};
  let best = null;
  for (let count = 1; count <= 40; ++count) {
    const columns = cut(bands, bands.at(-1).bottom / count);
    const w = columns.reduce((sum, column) => sum + column.high - column.low + COLUMN_GAP, -COLUMN_GAP);
    const h = Math.max(...columns.map((column) => column.bottom - column.y));
    const badness = Math.max(w / SHAPE, h);
    if (best === null || badness < 0.9 * best.badness) best = {columns, w, h, badness};
    if (bands.length < FEWEST_ROWS) break;
  }
  let x = 0;
  best.columns.forEach((column, c) => {
    for (const {row} of column.bands) {
      for (const n of row) {
        nodes[n].column = c;
        nodes[n].x += x - column.low;
        nodes[n].y -= column.y;
      }
    }
    x += column.high - column.low + COLUMN_GAP;
  });
  return {x: 0, y: 0, w: best.w, h: best.h};
}

function cut(bands, height) {
  const columns = [];
  for (const band of bands) {
    let column = columns.at(-1);
    if (column === undefined || band.bottom - column.y > height * 1.02) {
      column = {bands: [], y: band.y, bottom: 0, low: Infinity, high: -Infinity};
      columns.push(column);
    }
    column.bands.push(band);
    column.bottom = band.bottom;
    column.low = Math.min(column.low, band.low);
    column.high = Math.max(column.high, band.high);
  }
  return columns;
}

// How wide a row may be for the whole to be about as wide as it is high.
function widest(nodes) {
  const area = nodes.reduce((sum, {w, h}) => sum + (w + GAP_X) * (h + GAP_Y), 0);
  return Math.max(1500, 1.5 * Math.sqrt(area));
}

// A layer as rows: neighbours come to lie one below the other, so that all stay near their places.
function split(layer, nodes, most) {
  const width = layer.reduce((sum, n) => sum + nodes[n].w + GAP_X, 0);
  const count = Math.ceil(width / most);
  if (count <= 1) return [layer];
  const rows = Array.from({length: count}, () => []);
  layer.forEach((n, k) => rows[k % count].push(n));
  return rows;
}

// The centres nearest to the wanted ones, in the layer's order with room between them: minimises the
// squared distances (isotonic regression on what is left when the widths are taken off).
function spread(layer, nodes, wanted, center) {
  const blocks = [];
  let offset = 0;
  for (let k = 0; k < layer.length; ++k) {
    const n = layer[k];
    if (k > 0) offset += (nodes[layer[k - 1]].w + nodes[n].w) / 2 + GAP_X;
    let block = {sum: wanted[n] - offset, count: 1, first: k};
    while (blocks.length > 0 && blocks.at(-1).sum / blocks.at(-1).count >= block.sum / block.count) {
      const last = blocks.pop();
      block = {sum: last.sum + block.sum, count: last.count + block.count, first: last.first};
    }
    blocks.push(block);
  }
  offset = 0;
  let b = 0;
  for (let k = 0; k < layer.length; ++k) {
    if (k > 0) offset += (nodes[layer[k - 1]].w + nodes[layer[k]].w) / 2 + GAP_X;
    if (b + 1 < blocks.length && blocks[b + 1].first === k) ++b;
    center[layer[k]] = blocks[b].sum / blocks[b].count + offset;
  }
}
