// The graph on its canvas: pan, zoom, pick, walk by keys.
import {select} from 'd3-selection';
import {zoom, zoomIdentity} from 'd3-zoom';
import {h} from '../dom.js';
import {onTheme} from '../theme.js';
import {draw, palette} from './draw.js';
import {layout} from './layout.js';
import {flatten, itemAt} from './scene.js';

export class GraphView {
  // onSelect(instruction or null): something else was picked.
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.canvas = h('canvas', {class: 'graph', tabindex: '0', role: 'application', 'aria-label': 'graph of the program: arrows walk, Enter opens, + and − zoom'});
    this.element = h('div', {class: 'graph-holder'}, this.canvas, h('div', {class: 'graph-hint', 'aria-hidden': 'true'}, 'click, then zoom with the wheel'));
    this.open = new Set();
    this.options = {constants: false, shown: null};
    this.state = {program: null, colors: 'kind', isBefore: false, hits: null, selected: null, palette: palette(), font: getComputedStyle(document.body).fontFamily};
    this.transform = zoomIdentity;
    this.zoom = zoom().scaleExtent([0.005, 4]).on('zoom', ({transform}) => {
      this.transform = transform;
      this.#drawSoon();
    }).filter((event) => event.type === 'wheel' ? event.ctrlKey || document.activeElement === this.canvas : event.touches ? event.touches.length > 1 : !event.button);
    select(this.canvas).call(this.zoom).on('dblclick.zoom', null);
    this.canvas.addEventListener('click', (event) => this.#click(event));
    this.canvas.addEventListener('dblclick', (event) => this.#toggle(this.#at(event)));
    this.canvas.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.#resize()).observe(this.element);
    onTheme(() => {
      this.state.palette = palette();
      this.#drawSoon();
    });
  }

  show(program, isBefore) {
    this.state.program = program;
    this.state.isBefore = isBefore;
    this.state.selected = null;
    this.open.clear();
    this.arrange();
    this.fit();
  }

  // Lays out anew; what is selected stays where it was on the screen.
  arrange() {
    const {program, selected} = this.state;
    const before = selected && [selected.x, selected.y];
    this.scene = flatten(layout(program, program.entry, {...this.options, isOpen: (path) => this.open.has(path)}));
    this.state.selected = selected ? this.scene.byPath.get(selected.path) ?? null : null;
    if (before && this.state.selected) {
      const {k} = this.transform;
      this.#setTransform(this.transform.x + k * (before[0] - this.state.selected.x), this.transform.y + k * (before[1] - this.state.selected.y), k);
    }
    this.#drawSoon();
  }

  fit() {
    const {width, height} = this.#size();
    const k = Math.min(1.2, (width - 32) / Math.max(1, this.scene.w), (height - 32) / Math.max(1, this.scene.h));
    this.#setTransform((width - k * this.scene.w) / 2, (height - k * this.scene.h) / 2, k);
  }

  zoomBy(factor) {
    const {width, height} = this.#size();
    select(this.canvas).call(this.zoom.scaleBy, factor, [width / 2, height / 2]);
  }

  // Opens what hides the instruction, selects it and brings it to the middle. False where nothing calls it.
  goTo(i, large = true) {
    const {program} = this.state;
    const calls = program.callsTo(i);
    if (calls === null) return false;
    if (program.opcodeOf(i) === 'constant') this.options.constants = true;
    if (this.options.shown && !this.options.shown.has(calls[0] ?? i)) this.options.shown = null;
    let path = '';
    calls.forEach((call, depth) => {
      path = path === '' ? String(call) : `${path}/${call}`;
      this.open.add(path);
      const callees = program.called.get(call);
      if (callees.length > 1) path += `:${callees.indexOf(program.computationOf[calls[depth + 1] ?? i])}`;
    });
    path = path === '' ? String(i) : `${path}/${i}`;
    this.state.selected = null;
    this.arrange();
    const item = this.scene.byPath.get(path);
    if (!item) return false;
    this.#select(item);
    this.#center(item, large ? Math.max(this.transform.k, 0.9) : this.transform.k);
    return true;
  }

  setHits(hits) {
    this.state.hits = hits && hits.length > 0 ? new Set(hits) : null;
    this.#drawSoon();
  }

  setColors(colors) {
    this.state.colors = colors;
    this.#drawSoon();
  }

  // Opens every computation that fits a reading, or closes all.
  openAll(open) {
    this.open.clear();
    if (open) this.#openWithin(this.state.program.entry, '', {left: 4000});
    this.arrange();
    this.fit();
  }

  #openWithin(computation, path, room) {
    const {program} = this.state;
    const {first, size} = program.computations[computation];
    for (let i = first; i < first + size; ++i) {
      const callees = program.called.get(i);
      if (!callees) continue;
      const count = callees.reduce((sum, callee) => sum + program.computations[callee].size, 0);
      if (count > room.left) continue;
      room.left -= count;
      const own = path === '' ? String(i) : `${path}/${i}`;
      this.open.add(own);
      callees.forEach((callee, k) => this.#openWithin(callee, callees.length > 1 ? `${own}:${k}` : own, room));
    }
  }

  #select(item) {
    this.state.selected = item;
    this.onSelect(item ? item.i : null);
    this.#drawSoon();
  }

  #toggle(item) {
    if (!item || !this.state.program.called.has(item.i)) return;
    this.state.selected = item;
    if (!this.open.delete(item.path)) this.open.add(item.path);
    this.arrange();
    this.onSelect(item.i);
  }

  #at(event) {
    const [x, y] = this.transform.invert([event.offsetX, event.offsetY]);
    return itemAt(this.scene, x, y);
  }

  #click(event) {
    const item = this.#at(event);
    // A second click on what is selected opens it, too.
    if (item && item.path === this.state.selected?.path && event.detail === 1 && this.state.program.called.has(item.i)) this.#toggle(item);
    else this.#select(item);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {selected} = this.state;
    const step = 80;
    const walk = {ArrowUp: () => this.#walk('up'), ArrowDown: () => this.#walk('down'), ArrowLeft: () => this.#walk('left'), ArrowRight: () => this.#walk('right')};
    const pan = {ArrowUp: [0, step], ArrowDown: [0, -step], ArrowLeft: [step, 0], ArrowRight: [-step, 0]};
    if (event.key in walk && selected && !event.shiftKey) {
      walk[event.key]();
    } else if (event.key in pan) {
      const [dx, dy] = pan[event.key];
      this.#setTransform(this.transform.x + dx, this.transform.y + dy, this.transform.k);
    } else if (event.key === '+' || event.key === '=') {
      this.zoomBy(1.4);
    } else if (event.key === '-') {
      this.zoomBy(1 / 1.4);
    } else if (event.key === '0') {
      this.fit();
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (selected) this.#toggle(selected);
      else this.#selectMiddle();
    } else if (event.key === 'Escape') {
      this.#select(null);
    } else {
      return;
    }
    event.preventDefault();
  }

  // To the first operand or user in sight of the selected one, or to what lies beside it.
  #walk(way) {
    const {selected} = this.state;
    let item;
    if (way === 'up' || way === 'down') {
      const edges = [...this.scene.edges, ...this.scene.longEdges];
      item = way === 'up' ? edges.find((edge) => edge.b.path === selected.path)?.a : edges.find((edge) => edge.a.path === selected.path)?.b;
    } else {
      const sign = way === 'left' ? -1 : 1;
      const layer = [...this.scene.leaves, ...this.scene.boxes].filter((leaf) => Math.abs(leaf.y + leaf.h - selected.y - selected.h) < 2 && sign * (leaf.x - selected.x) > 0);
      item = layer.sort((a, b) => sign * (a.x - b.x))[0];
    }
    if (!item) return;
    this.#select(item);
    this.#center(item, this.transform.k);
  }

  #selectMiddle() {
    const {width, height} = this.#size();
    const [x, y] = this.transform.invert([width / 2, height / 2]);
    let best = null;
    let least = Infinity;
    for (const leaf of this.scene.leaves) {
      const distance = Math.hypot(leaf.x + leaf.w / 2 - x, leaf.y + leaf.h / 2 - y);
      if (distance < least) [best, least] = [leaf, distance];
    }
    if (best) this.#select(best);
  }

  #center(item, k) {
    const {width, height} = this.#size();
    this.#setTransform(width / 2 - k * (item.x + item.w / 2), height / 2 - k * (item.y + Math.min(item.h, 200) / 2), k);
  }

  #setTransform(x, y, k) {
    select(this.canvas).call(this.zoom.transform, zoomIdentity.translate(x, y).scale(k));
  }

  #size() {
    return {width: this.element.clientWidth || 800, height: this.element.clientHeight || 500};
  }

  #resize() {
    const {width, height} = this.#size();
    const had = this.width;
    this.width = width;
    this.height = height;
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    if (this.scene && (had === undefined || had !== width)) {
      if (had === undefined || !this.state.selected) this.fit();
    }
    this.#draw();
  }

  #drawSoon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.#draw();
    });
  }

  #draw() {
    if (!this.scene || !this.width) return;
    const context = this.canvas.getContext('2d');
    const scale = devicePixelRatio || 1;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    draw(context, this.width, this.height, this.scene, this.transform, this.state);
  }
}
