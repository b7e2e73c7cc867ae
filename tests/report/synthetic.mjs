// Documents and programs that no compiler made, for tests of the app.

// Small pseudo-random numbers, the same every time.
export function random(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

// A program in the form of report/graph_json.h: `count` instructions, a quarter of them in computations
// that the entry calls. Operands are mostly near, sometimes parameters. `skip` leaves some out.
export function program(count, {seed = 1, skip = 0} = {}) {
  const next = random(seed);
  const opcodes = ['parameter', 'add', 'multiply', 'dot', 'broadcast', 'reduce', 'call', 'constant'];
  const json = {name: 'synthetic', computations: [], names: [], opcodes, opcode: [], shapes: ['f32[8,128]{1,0}', 'f32[]'], shape: [], bytes: [4096, 4],
    operands: [], called: [], attributes: ['dimensions={0}'], attribute: [], literals: [], parameters: []};
  const add = (name, opcode, operands) => {
    json.names.push(name);
    json.opcode.push(opcodes.indexOf(opcode));
    json.shape.push(opcode === 'constant' ? 1 : 0);
    json.attribute.push(opcode === 'broadcast' ? 0 : -1);
    json.operands.push(operands.length, ...operands);
    return json.names.length - 1;
  };
  const bodies = Math.floor(count / 40);
  let id = 0;
  for (let c = 0; c < bodies; ++c) {
    const first = json.names.length;
    json.parameters.push([add(`p.${id++}`, 'parameter', []), 0]);
    for (let i = 1; i < 10; ++i) add(`multiply.${id++}`, 'multiply', [i - 1, Math.floor(next() * i)]);
    json.computations.push([`body.${c}`, first, json.names.length - first, 9]);
  }
  const first = json.names.length;
  const inputs = Math.min(40, Math.ceil(count / 10));
  for (let i = 0; i < inputs; ++i) json.parameters.push([add(`arg.${i}`, 'parameter', []), i]);
  let called = 0;
  while (json.names.length < count) {
    const i = json.names.length - first;
    const near = () => Math.max(0, i - 1 - Math.floor(next() * next() * 60));
    const opcode = called < bodies && next() < 0.06 ? 'call' : ['add', 'multiply', 'dot', 'broadcast', 'reduce', 'constant'][Math.floor(next() * 6)];
    const name = `${opcode}.${id++}`;
    const dropped = next() < skip;
    const operands = opcode === 'constant' ? [] : opcode === 'broadcast' || opcode === 'call' ? [near()] : [near(), next() < 0.1 ? Math.floor(next() * inputs) : near()];
    const at = add(dropped ? `new_${name}` : name, opcode, operands);
    if (opcode === 'call') json.called.push([at, [called++]]);
    if (opcode === 'constant') json.literals.push([at, '1']);
  }
  json.computations.push(['main', first, json.names.length - first, json.names.length - first - 1]);
  return json;
}

export function report(sections) {
  return {
    format: 'hone report 1', command: 'optimize', title: 'synthetic', file: 'a/folder/synthetic.hlo',
    headline: {verdict: '2,314 instructions: 1.5 % fewer than XLA’s own order leaves.', better: true, verified: 'yes', verification: 'run on XLA:CPU; 3 input sets',
      figures: [{label: 'as given', value: '3,275', note: 'instructions'}, {label: 'hone', value: '2,314', note: ''}]},
    sections, facts: [{label: 'hone', value: '0', note: ''}], remarks: ['a remark'],
  };
}

// Something for every kind of section.
export function everything(count) {
  const next = random(7);
  const passes = ['constant_folding:aggressive', 'algsimp:keep_convolutions', 'cse', 'call-inliner'];
  const kernels = (scale) => Array.from({length: 60}, (_, i) => {
    const flops = i % 5 === 0 ? 0 : 10 ** (3 + 5 * next());
    const moved = 10 ** (3 + 3 * next());
    const predicted = Math.max(flops / 4e10, moved / 1e10);
    return [`fusion.${i}`, 'fusion', 1 + (i % 3), scale * predicted * (1 + 4 * next()), flops, moved, predicted];
  });
  return report([
    {kind: 'curve', note: '', value_name: 'instructions', evaluations_name: 'steps evaluated', lower_is_better: true, start: count, points: [[0, 0, 2350], [120, 0.3, 2331], [900, 2.1, 2314]],
      evaluated: 5000, seconds: 30, levels: [{label: 'XLA’s own order', value: 2350}]},
    {kind: 'passes', note: 'Only passes that change something.', value_name: 'instructions', initial: 3000,
      steps: passes.map((pass, i) => ({pass, meaning: 'does what its name says', value: 2900 - 90 * i, opcodes: [['broadcast', -40], ['reshape', -12], ['constant', 3]]}))},
    {kind: 'ablation', note: '', effect_name: 'times as fast', neutral: 1, undone: passes.map((pass, i) => ({decision: pass, detail: 'gemm instead of eigen', effect: 1.2 - 0.08 * i, text: '1.2×', interval: [1.1 - 0.08 * i, 1.3 - 0.08 * i]}))},
    {kind: 'graphs', note: '', views: [{label: 'as given', graph: program(count), marks: []}, {label: 'result', graph: program(count, {skip: 0.1}), marks: []}]},
    {kind: 'kernels', note: '', flops_per_second: 8e10, bytes_per_second: 1.6e10, runs: [{label: 'stock', kernels: kernels(1)}, {label: 'tuned', kernels: kernels(0.8)}]},
    {kind: 'scratchpad', note: '', bytes_per_partition: 196608, partitions: 128, steps: 300, occupancy: [[0, 40000], [100, 160000], [300, 0]], left_out: 0,
      rooms: Array.from({length: 80}, (_, i) => [`add.${i}`, ['loaded', 'computed', 'copy'][i % 3], Math.floor(next() * 150000), 20000, 3 * i, 3 * i + 40])},
    {kind: 'traffic', note: '', ways: [{name: 'one by one', bytes: 9e9, seconds: 0.02, ours: false}, {name: 'hone', bytes: 1e9, seconds: 0.004, ours: true}, {name: 'bound', bytes: 9e8, seconds: null, ours: false}],
      tensors: Array.from({length: 30}, (_, i) => [`arg.${i}`, 'parameter', 1e6, 1e6 / (i + 1), i % 2 ? 1e5 : 0])},
    {kind: 'rewrites', note: '', pass: 'algsimp', separable: true, conflicts: 1, left_out: 0,
      sites: Array.from({length: 90}, (_, i) => ({kind: 'replace_instruction', status: i % 9 ? 'ok' : 'conflict', computation: 'main', instruction: `multiply.${i}`, opcode: 'multiply',
        original: 'multiply = f32[2] multiply(a, b)', replacement: i % 2 ? 'a = f32[2] parameter(0)' : '', reason: '', ops: -1, flops: -2, bytes: -16}))},
    {kind: 'methods', note: '', objective: 'op_count', curve: [[0, 0.9, 0.8, 1], [100, 1.1, 1, 1.2]],
      rows: [1, 2, 3].map((seed) => ({method: 'local', program: 'data/gpt2/hf_train_l4_d256_adamw.hlo', seed, initial: 3275, default: 2350, value: 2320, ratio: 1.02 + 0.01 * seed, evaluated: 4000, seconds: 12, verified: 'true'}))},
  ]);
}
