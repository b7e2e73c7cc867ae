#include "jobs/count.h"

#include <memory>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"

namespace hone::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string file;
};

int RunCount(const Options& options) {
  auto data = ReadNamed(options.file, options.common);
  if (!data) return Fail(data.error(), options.common.json);
  auto pool = StartPool(options.common);
  if (!pool) return Fail(pool.error(), options.common.json);
  const StatusOr<int64_t> count = jobs::CountInstructions(**pool, *std::move(data));
  if (!count) return Fail(count.error(), options.file, options.common.json);
  return Finish(std::to_string(*count) + "\n", kFine);
}

}  // namespace

Run AddCount(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file, "the program")->required()->type_name("");
  AddCommonOptions(app, options->common);
  return [options] { return RunCount(*options); };
}

}  // namespace hone::cli
