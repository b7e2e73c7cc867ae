// A report: header, sections, facts. What a section looks like is in sections/.
import * as sections from 'sections';
import {readDocument} from './data.js';
import {h} from './dom.js';
import {isDark, setTheme} from './theme.js';

const VERIFIED = {
  yes: ['✓', 'Verified', 'good'],
  no: ['✕', 'Not equal', 'bad'],
  skipped: ['–', 'Not verified', 'open'],
  unknown: ['?', 'Not proven', 'open'],
};

function topBar(document_, parts) {
  const toggle = h('button', {
    type: 'button', class: 'theme', 'aria-label': 'light or dark', title: 'light or dark',
    onclick: () => setTheme(isDark() ? 'light' : 'dark'),
  }, '◐');
  return h('nav', {class: 'top', 'aria-label': 'sections'},
      h('a', {class: 'brand', href: '#top'}, 'hone'),
      h('div', {class: 'links'}, parts.map(({id, title}) => h('a', {href: `#${id}`}, title))),
      toggle);
}

function header(document_) {
  const {headline} = document_;
  const [sign, word, tone] = VERIFIED[headline.verified];
  return h('header', {id: 'top'},
      h('p', {class: 'eyebrow'}, `hone ${document_.command}`, document_.file ? h('span', {class: 'file'}, document_.file) : null),
      h('h1', {}, document_.title),
      h('p', {class: `verdict${headline.better ? ' better' : ''}`}, headline.verdict),
      h('p', {class: `verified verified-${tone}`},
          h('span', {class: 'sign', 'aria-hidden': 'true'}, sign), h('b', {}, word),
          headline.verification ? h('span', {class: 'how'}, headline.verification) : null),
      h('dl', {class: 'figures'}, headline.figures.map((figure) => h('div', {},
          h('dt', {}, figure.label), h('dd', {}, figure.value),
          figure.note ? h('dd', {class: 'small'}, figure.note) : null))));
}

function footer(document_) {
  return h('footer', {},
      document_.remarks.length > 0 ? h('div', {class: 'remarks'}, h('h2', {}, 'Remarks'),
          h('ul', {}, document_.remarks.map((remark) => h('li', {}, remark)))) : null,
      h('h2', {}, 'How it was made'),
      h('dl', {class: 'facts'}, document_.facts.map((fact) => h('div', {}, h('dt', {}, fact.label), h('dd', {}, fact.value)))),
      h('p', {class: 'keys'}, h('kbd', {}, '/'), ' searches the program · ', h('kbd', {}, 'Tab'),
          ' goes from one control to the next · in the graph, arrows walk along operands and users, ',
          h('kbd', {}, '+'), ' ', h('kbd', {}, '−'), ' ', h('kbd', {}, '0'), ' zoom, ', h('kbd', {}, 'Enter'),
          ' opens a computation'));
}

// Sections of one kind after another get numbers behind their ids.
function build(document_) {
  const seen = new Map();
  return document_.sections.filter((data) => sections[data.kind]).map((data) => {
    const {title, render} = sections[data.kind];
    const count = (seen.get(data.kind) ?? 0) + 1;
    seen.set(data.kind, count);
    const id = count === 1 ? data.kind : `${data.kind}-${count}`;
    const name = data.title ?? title;
    const body = h('div', {class: 'body'});
    const element = h('section', {id, 'aria-labelledby': `${id}-title`},
        h('h2', {id: `${id}-title`}, name), data.note ? h('p', {class: 'note'}, data.note) : null, body);
    return {id, title: name, element, draw: () => render(body, data)};
  });
}

function keys() {
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey) return;
    const search = document.querySelector('input[type=search]');
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
}

async function main() {
  const app = document.getElementById('app');
  try {
    const document_ = await readDocument();
    const parts = build(document_);
    app.replaceChildren(topBar(document_, parts),
        h('main', {}, header(document_), parts.map(({element}) => element), footer(document_)));
    for (const {draw} of parts) draw();
    keys();
  } catch (error) {
    app.replaceChildren(h('main', {}, h('h1', {}, 'This report is damaged'), h('p', {}, String(error))));
    throw error;
  } finally {
    // Two frames on: all is drawn, and whoever waits is told how long it took.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      document.documentElement.dataset.ready = String(Math.round(performance.now()));
    }));
  }
}

main();
