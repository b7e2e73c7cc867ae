#include "cli/commands.h"
#include "cli/device.h"
#include "cli/own_commands.h"

namespace hone::cli {

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"optimize", "search for an order of XLA's passes that beats XLA's own; verify the result",
       "  hone optimize model.hlo -o better.hlo --recipe better.json\n"
       "  hone optimize model.hlo --objective flops --actions all --budget 2m\n"
       "  hone optimize model.hlo --report report.html\n"
       "  hone optimize models/ --budget 20s --json\n"
       "  hone optimize model.mlir -o better.hlo\n"
       "  hone optimize model.hlo --device pjrt:/path/to/plugin.so\n",
       AddOptimize},
      {"run", "run passes on a program, in the order given",
       "  hone run model.hlo --passes algsimp,cse,dce -o out.hlo\n"
       "  hone run model.hlo --passes \"\"            write it back, normalised\n"
       "  hone run model.hlo --passes fusion -o out.pb --timing\n",
       AddRun},
      {"rewrites", "what a pass would do, rewrite by rewrite; make some of them",
       "  hone rewrites model.hlo --pass algsimp\n"
       "  hone rewrites model.hlo --pass fusion --after algsimp,dce --texts\n"
       "  hone rewrites model.hlo --pass algsimp --apply 0,3,7-9 --verify -o out.hlo\n"
       "  hone rewrites model.hlo --pass algsimp --apply shrinking --plan-out plan.json -o "
       "out.hlo\n"
       "  hone rewrites other.hlo --pass algsimp --plan plan.json -o out.hlo\n",
       AddRewrites},
      {"tune", "the fastest verified way to compile a program, by search and measurement",
       "  hone tune model.hlo --budget 10m --plan plan.json -o optimised.hlo\n"
       "  hone tune model.hlo --budget 5m --report report.html\n"
       "  hone tune models/ --budget 5m --store tuned.db --json\n"
       "  hone tune recorded/ --store tuned.db --budget 2m\n"
       "  hone tune 'train.py:step(f32[8,16],s32[8])' --plan plan.json\n"
       "  hone tune model.hlo --target h100 --budget 1m --plan plan.json\n"
       "  hone tune model.hlo --stages flags,tiles --search boosting --budget 200steps\n"
       "  hone tune model.hlo --device pjrt:/path/to/plugin.so --plan plan.json\n"
       "  hone tune model.hlo --workers ray:auto --store tuned.db\n",
       AddTune},
      {"record", "what a Python script has JAX compile, and how often it runs",
       "  hone record -- python train.py\n"
       "  hone record -o recorded -- python train.py --steps 20\n",
       AddRecord},
      {"with", "run a Python script with the tuned modules of a store put in",
       "  hone with tuned.db -- python train.py\n", AddWith},
      {"apply", "the optimised program that the compiler makes under a plan",
       "  hone apply plan.json model.hlo -o optimised.hlo\n", AddApply},
      {"bench", "benchmark a plan against the stock compiler",
       "  hone bench model.hlo --plan plan.json\n"
       "  hone bench model.hlo --plan plan.json --budget 30s --json\n"
       "  hone bench model.hlo --kernels 10\n"
       "  hone bench model.hlo --target a100 --plan plan_for_h100.json\n"
       "  hone bench model.hlo --plan plan.json --device pjrt:/path/to/plugin.so\n",
       AddBench},
      {"kernels",
       "a program's kernels for a GPU that is not here: code, registers, spills, estimates",
       "  hone kernels model.hlo --target h100\n"
       "  hone kernels model.hlo --target h100 --plan plan.json --ptx kernels.ptx\n",
       AddKernels},
      {"sites",
       "where the compiler decides between ways to compile; decide otherwise, place by place",
       "  hone sites model.hlo\n"
       "  hone sites model.hlo --target h100 --at gemm\n"
       "  hone sites model.hlo --target h100 --choose gemm:dot=cublaslt --plan-out plan.json\n"
       "  hone sites model.hlo --choose 'layout=0,1' --choose xla_cpu_prefer_vector_width=512 "
       "--plan-out plan.json\n",
       AddSites},
      {"blame", "what made it slower, or different? the decision, its place, a small program",
       "  hone blame model.hlo --stock --plan plan.json\n"
       "  hone blame model.hlo --plan plan.json --question different -o blamed\n"
       "  hone blame model.hlo --flags-b \"--xla_backend_optimization_level=1 "
       "--xla_cpu_use_fusion_emitters=false\"\n"
       "  hone blame before.hlo after.hlo\n",
       AddBlame},
      {"store",
       "what tune, optimize and memory have found out: list, show, export, import, prune, learn",
       "  hone store ls tuned.db\n"
       "  hone store show tuned.db 3f2a\n"
       "  hone store export tuned.db -o tuned.jsonl\n"
       "  hone store import other.db tuned.jsonl\n"
       "  hone store prune tuned.db --older-than 720h\n"
       "  hone store learn tuned.db -o changes.json\n",
       AddStore},
      {"costmodel", "estimates of run time, learnt from a store: train, eval",
       "  hone costmodel train --store tuned.db -o cost.safetensors\n"
       "  hone costmodel train --store tuned.db --held-out 0.25 -o cost.safetensors\n"
       "  hone costmodel eval --store tuned.db --model cost.safetensors\n"
       "  hone costmodel eval --store tuned.db --folds 5 --json\n",
       AddCostModel},
      {"replay", "make the result of a recipe again, to the byte",
       "  hone replay better.json -o again.hlo\n"
       "  hone replay better.json --program elsewhere/model.hlo\n",
       AddReplay},
      {"check", "do two programs compute the same? 0 yes, 1 no, 4 can't tell",
       "  hone check model.hlo better.hlo\n"
       "  hone check model.hlo better.hlo --inputs 10 --seed 7 --budget 5m\n"
       "  hone check model.hlo --plan plan.json\n"
       "  hone check model.hlo better.hlo --device pjrt:/path/to/plugin.so\n",
       AddCheck},
      kTrain,
      {"eval", "a search method or a trained policy on programs, against XLA's own order",
       "  hone eval models/ --split test --search policy_greedy --budget 1s\n"
       "  hone eval models/ --policy policy.safetensors --verify -o results.jsonl\n"
       "  hone eval models/ --search random --budget 30s,4000steps --seeds 3 -o results.jsonl\n",
       AddEval},
      {"leaderboard", "one page of every method, from stored results",
       "  hone leaderboard results/*.jsonl -o leaderboard.md\n"
       "  hone leaderboard results.jsonl --steps 250,1000,4000\n",
       AddLeaderboard},
      {"coreset", "choose a few sequences of passes that together do well on many programs",
       "  hone coreset models/ --split train -o coreset.json\n"
       "  hone coreset a.hlo b.hlo --budget 20s --size 16 -o coreset.json\n",
       AddCoreset},
      {"stats", "what is in a program: ops, flops, bytes, memory, largest tensors",
       "  hone stats model.hlo\n"
       "  hone stats models/ --json\n",
       AddStats},
      {"graph", "a program for Model Explorer or Graphviz",
       "  hone graph model.hlo -o model.json          open it in Model Explorer\n"
       "  hone graph model.hlo --format dot | dot -Tsvg -o model.svg\n",
       AddGraph},
      {"memory", "plan what lies where on a scratchpad accelerator, and when it moves",
       "  hone memory model.hlo --machine neuroncore_v2\n"
       "  hone memory model.hlo --machine my_machine.json -o plan.json --report report.html\n"
       "  hone memory simulate plan.json\n"
       "  hone memory model.hlo --store found.db --budget 10m\n"
       "  hone memory machines\n",
       AddMemory},
      {"dataset", "folders of programs as data sets: index, split, list, check",
       "  hone dataset list\n"
       "  hone dataset index programs/ --workers 4\n"
       "  hone dataset split programs/ --by family\n"
       "  hone optimize mlp/train_step --datasets datasets/mlp\n",
       AddDataset},
      {"device", "PJRT plugins to compile and measure on: what one is, flags that are tried",
       "  hone device info pjrt:/path/to/plugin.so\n"
       "  hone device flags gpu\n",
       AddDevice},
      {"loops", "kernels as loop nests: schedules of them, by MLIR, shown, raced and tuned",
       "  hone loops list\n"
       "  hone loops show softmax_64_128\n"
       "  hone loops race matmul_256_256_512 --budget 3s\n"
       "  hone loops tune matmul_64_64_64 --budget 10s -o my.schedule\n",
       AddLoops},
      {"passes", "the passes that hone knows",
       "  hone passes\n"
       "  hone passes --group simplify\n"
       "  hone passes --excluded\n",
       AddPasses},
      {"setup", "fetch XLA's libraries; the first command that needs them does it too",
       "  hone setup\n"
       "  hone setup --hashes\n",
       AddSetup},
      {"doctor", "what is missing, what is slow on this machine, and what to do",
       "  hone doctor\n"
       "  hone doctor --json\n",
       AddDoctor},
      {"completion", "a script that completes hone's command line: bash, zsh, fish",
       "  source <(hone completion bash)\n"
       "  hone completion zsh > ~/.zfunc/_hone\n"
       "  hone completion fish > ~/.config/fish/completions/hone.fish\n",
       AddCompletion},
      {"manual", "this command line as a man page, as Markdown or as JSON",
       "  hone manual > hone.1\n"
       "  hone manual --markdown\n",
       AddManual},
  };
  return commands;
}

}  // namespace hone::cli
