// What is known of one instruction, with its operands and users to go on to.
import {h} from '../dom.js';
import {bytes, integer, plural} from '../format.js';
import {CHANGED, ONLY_HERE} from './model.js';

const MOST = 24;

export function inspect(program, i, {isBefore, labels, marks, go, other}) {
  const opcode = program.opcodeOf(i);
  const status = program.status[i];
  const link = (j) => h('button', {type: 'button', class: 'link', onclick: () => go(j)}, h('code', {}, program.names[j]));
  const list = (title, items) => items.length === 0 ? null : h('div', {}, h('h4', {}, `${title} `, h('span', {class: 'small'}, integer(items.length))),
      h('ul', {}, [...items].slice(0, MOST).map((j) => h('li', {}, link(j))), items.length > MOST ? h('li', {class: 'small'}, `${integer(items.length - MOST)} more`) : null));
  const callees = program.called.get(i) ?? [];
  const about = [
    [opcode, program.opcodeOf(i) === 'parameter' ? `number ${program.parameters.get(i) ?? '?'}` : null],
  ].map(([a, b]) => b ? `${a} ${b}` : a).join('');
  return [
    h('h3', {}, h('code', {}, program.names[i])),
    status === ONLY_HERE ? h('p', {class: `status ${isBefore ? 'gone' : 'new'}`}, isBefore ? `not in ${labels[1]}` : `not in ${labels[0]}`) : null,
    status === CHANGED ? h('p', {class: 'status changed'}, `other than in ${labels[isBefore ? 1 : 0]}`, other ? h('button', {type: 'button', class: 'link', onclick: other}, 'compare') : null) : null,
    marks ? h('p', {class: 'status marked'}, marks) : null,
    h('dl', {},
        h('dt', {}, 'opcode'), h('dd', {}, about),
        h('dt', {}, 'shape'), h('dd', {}, h('code', {}, program.shapeOf(i))),
        h('dt', {}, 'size'), h('dd', {}, bytes(program.bytesOf(i))),
        program.literals.has(i) ? [h('dt', {}, 'value'), h('dd', {}, h('code', {}, program.literals.get(i)))] : null,
        h('dt', {}, 'in'), h('dd', {}, h('code', {}, program.computations[program.computationOf[i]].name))),
    callees.length > 0 ? h('p', {class: 'small'}, callees.map((c) => `${program.computations[c].name}, ${plural(program.computations[c].size, 'instruction')}`).join('; ')) : null,
    program.attributesOf(i) ? h('pre', {}, program.attributesOf(i)) : null,
    list('operands', [...new Set(program.operandsOf(i))]), list('users', [...new Set(program.usersOf(i))]),
  ].filter(Boolean);
}
