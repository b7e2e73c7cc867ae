// The decisions of a compilation: what the stock pipeline decides on its way from a program to an
// executable, place by place, and how to have it decide otherwise. (Phothilimthana et al., "A
// Flexible Approach to Autotuning Multi-Pass Machine Learning Compilers", PACT 2021: XTAT.)
#ifndef HONE_CORE_COMPILE_PLAN_H_
#define HONE_CORE_COMPILE_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fingerprint.h"
#include "core/rewrite.h"

namespace hone {

// Where in the pipeline a decision is made. The first two are made before it, by passes.
enum class Stage : uint8_t { kOrder, kImplementation, kLayout, kFusion, kTiles, kFlags };

inline constexpr std::string_view kStageNames[] = {"order",  "implementation", "layout",
                                                   "fusion", "tiles",          "flags"};

inline constexpr std::string_view StageName(Stage stage) {
  return kStageNames[static_cast<int>(stage)];
}

inline std::optional<Stage> StageFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kStageNames); ++i) {
    if (kStageNames[i] == name) return static_cast<Stage>(i);
  }
  return std::nullopt;
}

// The kinds of decisions, XLA:GPU's last: enumerator, name, Stage; the choices.
#define HONE_COMPILE_SITE_KINDS(ROW)                                                              \
  ROW(kFusionEdge, "fusion_edge", kFusion)   /* a producer into a consumer: "fuse", "keep" */     \
  ROW(kFusionNode, "fusion_node", kFusion)   /* a producer into any: "stock", "keep" */           \
  ROW(kLayout, "layout", kLayout)            /* of a result: "stock", minor-to-major "0,1" */     \
  ROW(kPartitions, "partitions", kTiles)     /* pieces that a loop is split into: a number */     \
  ROW(kDotStrategy, "dot_strategy", kTiles)  /* "naive", "gemv", "gemm", "eigen" */               \
  ROW(kLibrary, "library", kTiles)           /* what takes it and neighbours: "none", a name */   \
  ROW(kEntryLayout, "entry_layout", kLayout) /* of what is passed and returned: "0,1" */          \
  ROW(kGemm, "gemm", kTiles)                 /* "cublas", "cublaslt", "triton", "loop" */         \
  ROW(kReduction, "reduction", kTiles)       /* whether a reduce becomes two: "split", "whole" */ \
  ROW(kConvolution, "convolution", kTiles)   /* by the simplifier: "simplify", "keep" */          \
  ROW(kCollective, "collective", kTiles)     /* with those like it: "combine", "keep" */          \
  ROW(kSmallKernels, "small_kernels", kTiles) /* beside each other: "apart", "join" as one */     \
  /* new ones here: the keys of sites depend on the order */

#define HONE_ENUMERATOR(enumerator, ...) enumerator,
enum class CompileSiteKind : uint8_t { HONE_COMPILE_SITE_KINDS(HONE_ENUMERATOR) };
#undef HONE_ENUMERATOR

#define HONE_NAME(enumerator, name, stage) name,
inline constexpr std::string_view kCompileSiteKindNames[] = {HONE_COMPILE_SITE_KINDS(HONE_NAME)};
#undef HONE_NAME

inline constexpr std::string_view CompileSiteKindName(CompileSiteKind kind) {
  return kCompileSiteKindNames[static_cast<int>(kind)];
}

inline constexpr Stage StageOf(CompileSiteKind kind) {
#define HONE_STAGE(enumerator, name, stage) Stage::stage,
  constexpr Stage kStages[] = {HONE_COMPILE_SITE_KINDS(HONE_STAGE)};
#undef HONE_STAGE
  return kStages[static_cast<int>(kind)];
}

// A place where the compiler decides. Places that look alike have one key and are decided alike: in
// this program and in others.
struct CompileSite {
  // Of the kind, the instruction (opcode, shapes with layouts where they are settled, attributes)
  // and its neighbours as far as CompileOptions says.
  SiteKey key = 0;
  CompileSiteKind kind = CompileSiteKind::kFusionEdge;
  uint32_t places = 1;      // that share the key
  std::string instruction;  // the first one's name
  std::string opcode;
  std::string user;                  // the consumer's opcode, of edges
  int64_t bytes = 0;                 // that the instruction reads and writes, over all places
  std::vector<std::string> choices;  // legal, at least two
  uint32_t stock = 0;                // which of them the compiler takes by itself
  // By XLA's own model, of what each choice is about, over all places: one a choice, or none where
  // XLA does not ask it.
  std::vector<double> seconds;
};

// What sites of all programs have in common: "fusion_edge add multiply"; without a consumer "layout
// add". `kind` by its name.
inline std::string AlikeText(std::string_view kind, const std::string& opcode,
                             const std::string& consumer) {
  return std::string(kind) + " " + opcode + (consumer.empty() ? "" : " ") + consumer;
}

struct CompileChoice {
  SiteKey key = 0;
  std::string value;  // one of CompileSite::choices
  friend bool operator==(const CompileChoice& a, const CompileChoice& b) {
    return a.key == b.key && a.value == b.value;
  }
};

// A flag PREFIX + name of a pass, "true", leaves the pass out of the pipeline, beside those that
// xla_disable_hlo_passes itself lists.
inline constexpr std::string_view kWithoutPass = "xla_disable_hlo_passes.";

inline bool IsWithoutPass(std::string_view flag) {
  return flag.substr(0, kWithoutPass.size()) == kWithoutPass;
}

// Whether XLA:CPU's optimised module shows all that the flag does.
inline bool IsSeenInTheModule(std::string_view flag) {
  return flag.substr(0, kWithoutPass.size() - 1) == kWithoutPass.substr(0, kWithoutPass.size() - 1);
}

// The decisions that differ from the stock compiler's. Empty: the stock compiler. A key that a
// program does not have decides nothing; a value that is not legal at a place is ignored there.
struct CompilePlan {
  std::vector<CompileChoice> choices;  // ascending keys, each once
  // XLA's debug options by their names, "xla_backend_extra_options.NAME", and kWithoutPass;
  // ascending names.
  std::vector<std::pair<std::string, std::string>> flags;

  bool empty() const { return choices.empty() && flags.empty(); }
  // 0 for the empty plan.
  uint64_t Hash() const {
    if (empty()) return 0;
    uint64_t hash = 0x9e3779b97f4a7c15ull;
    const auto add = [&hash](uint64_t value) {
      hash = (hash ^ value) * 0x9fb21c651e98df25ull;
      hash ^= hash >> 29;
    };
    const auto add_text = [&add](const std::string& text) {
      for (unsigned char c : text) add(c);
      add(0x100);
    };
    for (const CompileChoice& choice : choices) {
      add(choice.key);
      add_text(choice.value);
    }
    add(0x101);
    for (const auto& [name, value] : flags) {
      add_text(name);
      add_text(value);
    }
    return hash | 1;
  }
  friend bool operator==(const CompilePlan& a, const CompilePlan& b) {
    return a.choices == b.choices && a.flags == b.flags;
  }
};

inline void Sort(CompilePlan& plan) {
  std::stable_sort(plan.choices.begin(), plan.choices.end(),
                   [](const CompileChoice& a, const CompileChoice& b) { return a.key < b.key; });
  std::sort(plan.flags.begin(), plan.flags.end());
}

struct CompileOptions {
  bool sites = true;              // fill Compiled::sites
  bool text = false;              // fill Compiled::text
  int fusion_hops = 5;            // XTAT's k of fusion sites; node-level sites have 0
  bool fast_math = false;         // offer flags that change the numerics (flag_choices)
  bool free_entry = false;        // offer layouts of the entry's parameters and results
  // Also make code, as listing all sites needs. Without it, failures there are not found, and dots
  // that are emitted otherwise do not count as applied.
  bool code = true;
  bool assembly = false;          // fill Compiled::assembly
  double deadline_seconds = 180;  // a compilation that takes longer is given up
};

// A flag that may be set, with the values to choose from, the stock value first.
struct FlagChoices {
  std::string name;
  std::vector<std::string> values;
  bool first = false;  // worth a try before all else: it can matter much
};

// The stock pipeline of HLO passes, run under a plan.
struct Compiled {
  Fingerprint fingerprint;         // of the optimised module
  int64_t instructions = 0;        // of the optimised module, fusion bodies included
  std::vector<CompileSite> sites;  // in the order in which they were met
  std::vector<FlagChoices> flag_choices;
  std::string text;      // the optimised module
  std::string assembly;  // PTX of its kernels, for a GPU
  double seconds = 0;
  uint64_t applied = 0;  // places at which the plan decided otherwise than the stock compiler
};

// Of an executable, from its own trace.
struct KernelTime {
  std::string name;  // of the instruction in the optimised module
  std::string opcode;
  double seconds = 0;  // a run, mean
  int64_t calls = 0;   // a run
};

// Loops and calls: the kernels that they run are listed too.
inline bool HasKernelsInside(const KernelTime& kernel) {
  return kernel.opcode == "while" || kernel.opcode == "call" || kernel.opcode == "conditional";
}

}  // namespace hone

#endif  // HONE_CORE_COMPILE_PLAN_H_
