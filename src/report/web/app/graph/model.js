// A program as report/graph_json.h writes it, ready to be walked.
export const SAME = 0;
export const ONLY_HERE = 1;  // the other program does not have it
export const CHANGED = 2;    // it does, with another opcode, shape, attributes or operands

// What an instruction is, roughly: for colours.
const KINDS = new Map(Object.entries({
  product: ['dot', 'convolution', 'ragged-dot', 'scaled-dot', 'cholesky', 'triangular-solve', 'fft', 'topk', 'sort'],
  reduce: ['reduce', 'reduce-window', 'select-and-scatter', 'all-reduce', 'all-gather', 'reduce-scatter', 'all-to-all', 'collective-permute'],
  move: ['broadcast', 'reshape', 'transpose', 'slice', 'dynamic-slice', 'dynamic-update-slice', 'concatenate', 'pad', 'reverse', 'gather', 'scatter', 'copy', 'copy-start', 'copy-done', 'bitcast', 'bitcast-convert', 'iota'],
  call: ['call', 'fusion', 'while', 'conditional', 'custom-call', 'map', 'async-start', 'async-done'],
  leaf: ['parameter', 'constant', 'tuple', 'get-tuple-element', 'after-all', 'rng', 'rng-bit-generator', 'partition-id', 'replica-id'],
}).flatMap(([kind, opcodes]) => opcodes.map((opcode) => [opcode, kind])));

export const KIND_NAMES = [['product', 'products'], ['elementwise', 'elementwise'], ['reduce', 'reductions'], ['move', 'data movement'], ['call', 'calls, loops, fusions'], ['leaf', 'inputs, tuples']];

export class Program {
  constructor(json) {
    this.name = json.name;
    this.count = json.names.length;
    this.names = json.names;
    this.opcodes = json.opcodes;
    this.opcode = json.opcode;
    this.shapes = json.shapes;
    this.shape = json.shape;
    this.shapeBytes = json.bytes;
    this.attributes = json.attributes;
    this.attribute = json.attribute;
    this.computations = json.computations.map(([name, first, size, root]) => ({name, first, size, root: first + root}));
    this.entry = this.computations.length - 1;
    this.called = new Map(json.called);
    this.literals = new Map(json.literals);
    this.parameters = new Map(json.parameters);
    this.status = new Uint8Array(this.count);
    this.kindOfOpcode = json.opcodes.map((opcode) => KINDS.get(opcode) ?? 'elementwise');
    this.#readOperands(json.operands);
    this.#findUsers();
    this.#findCallers();
  }

  // Operands by instruction: operand[operandStart[i]] … operand[operandStart[i + 1] - 1].
  #readOperands(flat) {
    this.computationOf = new Int32Array(this.count);
    this.computations.forEach(({first, size}, c) => this.computationOf.fill(c, first, first + size));
    this.operandStart = new Int32Array(this.count + 1);
    this.operand = new Int32Array(flat.length - this.count);
    let at = 0;
    let end = 0;
    for (let i = 0; i < this.count; ++i) {
      const first = this.computations[this.computationOf[i]].first;
      const size = flat[at++];
      for (let k = 0; k < size; ++k) this.operand[end++] = first + flat[at++];
      this.operandStart[i + 1] = end;
    }
  }

  #findUsers() {
    this.userStart = new Int32Array(this.count + 1);
    for (const operand of this.operand) this.userStart[operand + 1] += 1;
    for (let i = 0; i < this.count; ++i) this.userStart[i + 1] += this.userStart[i];
    const next = this.userStart.slice();
    this.user = new Int32Array(this.operand.length);
    for (let i = 0; i < this.count; ++i) {
      for (let k = this.operandStart[i]; k < this.operandStart[i + 1]; ++k) this.user[next[this.operand[k]]++] = i;
    }
  }

  #findCallers() {
    this.callers = this.computations.map(() => []);
    for (const [i, computations] of this.called) computations.forEach((c) => this.callers[c]?.push(i));
  }

  operandsOf(i) { return this.operand.subarray(this.operandStart[i], this.operandStart[i + 1]); }
  usersOf(i) { return this.user.subarray(this.userStart[i], this.userStart[i + 1]); }
  opcodeOf(i) { return this.opcodes[this.opcode[i]]; }
  shapeOf(i) { return this.shapes[this.shape[i]]; }
  bytesOf(i) { return this.shapeBytes[this.shape[i]]; }
  kindOf(i) { return this.kindOfOpcode[this.opcode[i]]; }
  attributesOf(i) { return this.attribute[i] < 0 ? '' : this.attributes[this.attribute[i]]; }

  // The instructions through which `i` is reached from the entry, outermost first: calls.
  callsTo(i) {
    const calls = [];
    const seen = new Set();
    for (let c = this.computationOf[i]; c !== this.entry;) {
      const caller = this.callers[c][0];
      if (caller === undefined || seen.has(c)) return null;
      seen.add(c);
      calls.unshift(caller);
      c = this.computationOf[caller];
    }
    return calls;
  }

  // Instructions that have all of the words in name, opcode, shape or literal.
  search(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const found = [];
    for (let i = 0; i < this.count; ++i) {
      const hay = `${this.names[i]} ${this.opcodeOf(i)} ${this.shapeOf(i)} ${this.literals.get(i) ?? ''}`.toLowerCase();
      if (words.every((word) => hay.includes(word))) found.push(i);
    }
    return found;
  }
}

// Fills `status` of both: an instruction is the same as that of its name in the other program.
export function compare(before, after) {
  const byName = (program) => new Map(program.names.map((name, i) => [name, i]));
  const names = [byName(before), byName(after)];
  const mark = (program, other, otherNames) => {
    const operandNames = (of, i) => Array.from(of.operandsOf(i), (operand) => of.names[operand]).join();
    for (let i = 0; i < program.count; ++i) {
      const j = otherNames.get(program.names[i]);
      program.status[i] = j === undefined ? ONLY_HERE :
          program.opcodeOf(i) !== other.opcodeOf(j) || program.shapeOf(i) !== other.shapeOf(j) ||
                  program.attributesOf(i) !== other.attributesOf(j) || operandNames(program, i) !== operandNames(other, j) ?
          CHANGED : SAME;
    }
  };
  mark(before, after, names[1]);
  mark(after, before, names[0]);
  return names;
}
