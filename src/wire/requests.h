// The requests to workers and their answers: a struct for each call of calls.def, with the members
// that are listed there, and `Result`, the type of the answer.
#ifndef HONE_WIRE_REQUESTS_H_
#define HONE_WIRE_REQUESTS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/comparison.h"
#include "core/compile_plan.h"
#include "core/evaluation.h"
#include "core/pass.h"
#include "core/program.h"
#include "core/program_arrays.h"
#include "core/program_graph.h"
#include "core/race.h"
#include "core/raw_loop.h"
#include "core/rewrite.h"
#include "core/run_time.h"
#include "core/state.h"

namespace hone {

// Known from the first worker's first answer on, and the same for all.
struct WorkerFacts {
  std::string version;  // of XLA: the wheel's name and version
  std::string target;   // "cpu", or the GPU's name
  std::vector<PassInfo> passes;
  std::vector<ExcludedPass> excluded;
  std::vector<std::string> opcodes;  // XLA's names, in its order
  std::vector<std::string> types;    // XLA's element types, in its order
};

// A state whose module an episode leaves behind.
struct LeftState {
  ProgramId program = 0;
  Fingerprint state;
};

enum class ExportFormat { kText, kProto };

struct Exported {
  std::string bytes;
  Fingerprint state;
};

// The next message of a pass that is asked rewrite by rewrite.
struct Question {
  bool done = false;  // there is nothing more to ask; `site` means nothing
  RewriteSite site;
};

enum class ExtractKind : uint8_t {
  kRandom,        // an instruction drawn from `seed`, with what it is computed from, `most` deep
  kFusions,       // each fusion
  kInstructions,  // each instruction of the entry
  kTasks,         // kernels and their neighbourhoods: WorkerCalls::Cut
};

struct Extracted {
  std::vector<std::string> modules;  // as HLO text
  // Of tasks, the rest of ProgramTask: one for each module.
  std::vector<std::string> what;
  std::vector<int64_t> places;
  std::vector<int64_t> runs;
};

struct Nothing {};

#define HONE_CALL(name, doing) \
  struct name##Request {       \
    static constexpr const char* kDoing = doing;
#define HONE_TAKES(type, member, field) type member = {};
#define HONE_KEEPS(type, member) type member = {};
#define HONE_GIVES(name, type) \
  using Result = type;         \
  }                            \
  ;
#include "wire/calls.def"

}  // namespace hone

#endif  // HONE_WIRE_REQUESTS_H_
