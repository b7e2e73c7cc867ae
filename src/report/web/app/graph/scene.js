// A layout as flat lists in one coordinate system, sorted so that what is in sight is found fast.

export const LONG = 420;  // edges that reach farther down, or to another column, are only begun and ended

export function flatten(root) {
  const scene = {leaves: [], boxes: [], edges: [], longEdges: [], byPath: new Map(), w: root.w, h: root.h};
  add(root, 0, 0, scene);
  scene.leaves.sort((a, b) => a.y - b.y);
  scene.edges.sort((a, b) => a.y1 - b.y1);
  scene.tallest = scene.leaves.reduce((most, leaf) => Math.max(most, leaf.h), 0);
  scene.longest = scene.edges.reduce((most, edge) => Math.max(most, edge.y2 - edge.y1), 0);
  return scene;
}

function add(box, dx, dy, scene) {
  const absolute = new Map();
  for (const node of box.nodes) {
    const item = {i: node.i, path: node.path, x: dx + node.x, y: dy + node.y, w: node.w, h: node.h, open: node.bodies !== null};
    absolute.set(node, item);
    scene.byPath.set(item.path, item);
    if (node.bodies === null) {
      scene.leaves.push(item);
    } else {
      scene.boxes.push(item);
      for (const body of node.bodies) add(body, item.x + body.x, item.y + body.y, scene);
    }
  }
  for (const [from, to] of box.edges) {
    const a = absolute.get(from);
    const b = absolute.get(to);
    const edge = {a, b, x1: a.x + a.w / 2, y1: a.y + a.h, x2: b.x + b.w / 2, y2: b.y};
    (edge.y2 - edge.y1 > LONG || from.column !== to.column ? scene.longEdges : scene.edges).push(edge);
  }
}

// The index of the first item whose `field` is at least `value`.
export function lowerBound(items, field, value) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle][field] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// What lies there: a leaf, else the innermost open box's title, else nothing.
export function itemAt(scene, x, y) {
  for (let k = lowerBound(scene.leaves, 'y', y - scene.tallest); k < scene.leaves.length && scene.leaves[k].y <= y; ++k) {
    const leaf = scene.leaves[k];
    if (x >= leaf.x && x <= leaf.x + leaf.w && y <= leaf.y + leaf.h) return leaf;
  }
  return scene.boxes.findLast((box) => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + 26) ?? null;
}
