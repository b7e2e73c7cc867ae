// Which kinds of sections there are: what report/sections/ writes, and what draws it.
import ablation from './ablation.js';
import curve from './curve.js';
import graphs from './graphs.js';
import kernels from './kernels.js';
import methods from './methods.js';
import passes from './passes.js';
import rewrites from './rewrites.js';
import scratchpad from './scratchpad.js';
import traffic from './traffic.js';

export const sections = {
  curve: {title: 'Best so far', render: curve},
  passes: {title: 'Pass by pass', render: passes},
  ablation: {title: 'What mattered', render: ablation},
  graphs: {title: 'The program', render: graphs},
  kernels: {title: 'Where the time goes', render: kernels},
  scratchpad: {title: 'The scratchpad', render: scratchpad},
  traffic: {title: 'Traffic', render: traffic},
  rewrites: {title: 'Rewrite by rewrite', render: rewrites},
  methods: {title: 'Program by program', render: methods},
};
