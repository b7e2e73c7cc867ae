// hone-learn: the commands that need torch. `hone` becomes this for them.
#include "cli/command_line.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  const std::vector<hone::cli::Command> commands = {
      {hone::cli::kTrain.name, hone::cli::kTrain.meaning,
       "  hone train models/ --split train --algo ppo -o policy.safetensors --log runs/ppo\n"
       "  hone train models/ --algo dqn --preset paper --features counts --reward level\n"
       "  hone train models/ --algo ppo --set entropy_weight=0.02 --set overlap=true --steps "
       "500000\n"
       "  hone train models/ --resume runs/ppo/checkpoint.pt --log runs/ppo -o "
       "policy.safetensors\n"
       "  hone train --loops --drawn 200 --measure estimate -o loops.safetensors --log runs/loops\n"
       "  hone train --loops matmul_64_64_64 my.task --algo ppo --preset paper -o "
       "loops.safetensors\n",
       hone::cli::AddTrain},
      {"manual", "the commands above, for `hone manual`", "", hone::cli::AddManual}};
  return hone::cli::RunCommandLine(commands, argc, argv);
}
