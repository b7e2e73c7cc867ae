#include "tune/find_implementations.h"

#include <algorithm>
#include <string>

#include "tune/recipe.h"

namespace hone::tune {
namespace {

constexpr char kInline[] = "call-inliner:every_call_site";
constexpr char kBatch[] = "batch_lanes";

bool HasCalls(const Pool& pool, const ProgramInfo& program) {
  return std::any_of(program.opcodes.begin(), program.opcodes.end(), [&](const OpcodeCount& count) {
    return pool.opcodes()[count.opcode] == "call";
  });
}

// Whether the last pass changes something.
bool Changes(Pool& pool, const ProgramInfo& program, const std::vector<PassId>& passes) {
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = passes;
  request.options.verify = true;
  const StatusOr<Applied> applied = pool.Apply(request);
  return applied && applied->steps.back().changed;
}

}  // namespace

std::vector<Alternative> FindImplementations(Pool& pool, const ProgramInfo& program,
                                             const std::atomic<bool>* interrupted) {
  std::vector<Alternative> found;
  const StatusOr<PassId> inlining = FindPass(pool.passes(), kInline);
  const bool calls = inlining && HasCalls(pool, program);
  const auto add = [&](PassId pass) {
    if (interrupted != nullptr && *interrupted) return;
    const std::string& name = pool.passes()[pass].name;
    if (Changes(pool, program, {pass})) {
      found.push_back({Stage::kImplementation, name, {{name, {}}}});
    } else if (calls && Changes(pool, program, {*inlining, pass})) {
      found.push_back({Stage::kImplementation, name, {{kInline, {}}, {name, {}}}});
    }
  };
  for (PassId pass = 0; pass < pool.passes().size(); ++pass) {
    if (pool.passes()[pass].kind == PassKind::kImplementation) add(pass);
  }
  if (const StatusOr<PassId> batch = FindPass(pool.passes(), kBatch)) add(*batch);
  return found;
}

}  // namespace hone::tune
