// One program or two as a graph, with search, and what is known of the picked instruction.
import {h, segments} from '../dom.js';
import {integer, plural} from '../format.js';
import {inspect} from '../graph/inspector.js';
import {CHANGED, compare, KIND_NAMES, ONLY_HERE, Program, SAME} from '../graph/model.js';
import {GraphView} from '../graph/view.js';

const count = (program, status) => program.status.reduce((sum, one) => sum + (one === status ? 1 : 0), 0);

export const title = 'The program';

export function render(body, data) {
  const programs = data.views.map((view) => new Program(view.graph));
  const labels = data.views.map((view) => view.label);
  const marks = data.views.map((view) => new Map(view.marks));
  const two = programs.length > 1;
  const names = two ? compare(programs[0], programs[1]) : null;
  if (!two && marks[0].size > 0) {
    // What the report speaks of is what stands out.
    programs[0].names.forEach((name, i) => { programs[0].status[i] = marks[0].has(name) ? CHANGED : SAME; });
  }
  const speaks = two || marks[0].size > 0;
  let now = programs.length - 1;
  let hits = [];
  let hit = -1;

  const panel = h('aside', {class: 'inspector', 'aria-live': 'polite', 'aria-label': 'the picked instruction'});
  const view = new GraphView((i) => show(i));
  view.state.colors = speaks ? 'status' : 'kind';
  const program = () => programs[now];

  const nothing = () => {
    const opcodes = new Map();
    for (let i = 0; i < program().count; ++i) opcodes.set(program().opcodeOf(i), (opcodes.get(program().opcodeOf(i)) ?? 0) + 1);
    const list = [...opcodes].sort((a, b) => b[1] - a[1]).slice(0, 14);
    return [h('h3', {}, program().name), h('p', {class: 'small'}, `${plural(program().count, 'instruction')} in ${plural(program().computations.length, 'computation')}. Pick one to see its operands and users; a ▸ opens on a double click.`),
      h('table', {class: 'opcodes'}, h('tbody', {}, list.map(([opcode, times]) => h('tr', {}, h('td', {class: 'text'}, h('button', {type: 'button', class: 'link', onclick: () => find(opcode)}, opcode)), h('td', {}, integer(times))))))];
  };
  const show = (i) => panel.replaceChildren(...(i === null ? nothing() : inspect(program(), i, {
    isBefore: two && now === 0, labels, marks: marks[now].get(program().names[i]), go: (j) => view.goTo(j),
    other: two && program().status[i] === CHANGED ? () => {
      const name = program().names[i];
      choice.choose(1 - now);
      view.goTo(names[now].get(name));
    } : null,
  })));

  const counter = h('span', {class: 'small hits', 'aria-live': 'polite'});
  const search = h('input', {type: 'search', 'aria-label': 'search the program', placeholder: 'search: name, opcode, shape', oninput: () => {
    hits = program().search(search.value);
    hit = -1;
    view.setHits(hits);
    counter.textContent = search.value.trim() === '' ? '' : plural(hits.length, 'hit');
  }, onkeydown: (event) => {
    if (event.key === 'Enter' && hits.length > 0) {
      next(event.shiftKey ? -1 : 1);
    } else if (event.key === 'Escape') {
      find('');
      view.canvas.focus();
    }
  }});
  const find = (text) => {
    search.value = text;
    search.dispatchEvent(new Event('input'));
    if (hits.length > 0) next(1);
  };
  const next = (step) => {
    hit = (hit + step + hits.length) % hits.length;
    const reached = view.goTo(hits[hit]);
    counter.textContent = `${integer(hit + 1)} of ${integer(hits.length)}${reached ? '' : ', called by nothing'}`;
  };

  const legend = h('p', {class: 'legend'});
  const drawLegend = () => {
    const statuses = two ? [
      now === 0 ? ['swatch-gone', `${integer(count(program(), ONLY_HERE))} not in ${labels[1]}`] : ['swatch-new', `${integer(count(program(), ONLY_HERE))} not in ${labels[0]}`],
      ['swatch-changed', `${integer(count(program(), CHANGED))} changed`], ['swatch-same', `${integer(count(program(), SAME))} the same`],
    ] : [['swatch-changed', `${integer(count(program(), CHANGED))} marked`], ['swatch-same', 'others']];
    legend.replaceChildren(...(view.state.colors === 'status' ? statuses : KIND_NAMES.map(([kind, name]) => [`swatch-${kind}`, name])).map(([tone, text]) => h('span', {class: `swatch ${tone}`}, text)));
  };
  const choose = (which) => {
    now = which;
    view.options.shown = null;
    view.show(program(), two && which === 0);
    search.dispatchEvent(new Event('input'));
    if (amount && !amount.hidden) amount.choose('all');
    drawLegend();
    show(null);
  };

  // Only what changed, with its neighbours; open computations are whole.
  const near = () => {
    const shown = new Set();
    const {first, size} = program().computations[program().entry];
    for (let i = first; i < first + size; ++i) {
      if (program().status[i] === SAME) continue;
      shown.add(i);
      program().operandsOf(i).forEach((j) => shown.add(j));
      program().usersOf(i).forEach((j) => shown.add(j));
    }
    return shown;
  };
  const choice = two ? segments('program', labels.map((label, i) => [i, `${label} · ${integer(programs[i].count)}`]), now, choose) : null;
  const amount = speaks ? segments('what is shown', [['all', 'all'], ['changes', two ? 'changes' : 'marked']], 'all', (value) => {
    view.options.shown = value === 'changes' ? near() : null;
    view.state.selected = null;
    view.arrange();
    view.fit();
  }) : null;
  const colors = speaks ? segments('colours', [['status', two ? 'by change' : 'by mark'], ['kind', 'by kind']], 'status', (value) => {
    view.setColors(value);
    drawLegend();
  }) : null;
  const button = (label, title, act) => h('button', {type: 'button', title, 'aria-label': title, onclick: act}, label);
  const zooms = h('div', {class: 'segments'}, button('−', 'zoom out', () => view.zoomBy(1 / 1.5)), button('+', 'zoom in', () => view.zoomBy(1.5)), button('fit', 'show all', () => view.fit()));
  let opened = false;
  const opener = program().called.size > 0 ? h('div', {class: 'segments'}, button('open ▸', 'open or close computations', (event) => {
    opened = !opened;
    event.currentTarget.textContent = opened ? 'close ▾' : 'open ▸';
    view.openAll(opened);
  })) : null;

  body.append(h('div', {class: 'tools'}, [choice, search, counter, h('span', {class: 'spring'}), amount, colors, opener, zooms].filter(Boolean)),
      h('div', {class: 'graph-row'}, view.element, panel), legend);
  view.show(program(), two && now === 0);
  drawLegend();
  show(null);
}
