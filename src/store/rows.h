// The rows of a store. Plain data; texts are UTF-8, times seconds, fingerprints and keys
// hexadecimal.
#ifndef HONE_STORE_ROWS_H_
#define HONE_STORE_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/compile_plan.h"

namespace hone::store {

// Where and with what something was measured. Figures of another place are not comparable.
struct Place {
  std::string cpu;  // the processor's model, as it names itself
  int cores = 0;
  std::string xla;   // Pool::version()
  std::string hone;  // hone's own version

  // By which rows name it.
  std::string Machine() const { return cpu + " x" + std::to_string(cores); }
};

struct ProgramRow {
  std::string program;  // Fingerprint::ToHex of the program as loaded
  std::string name;
  std::string file;
  int64_t instructions = 0;
};

// One choice of a plan, for those who look for what a choice did: a stage, what was decided (a site
// key, a flag, a pass), and how.
struct ChoiceRow {
  std::string stage;
  std::string key;
  std::string value;
};

struct PlanRow {
  std::string plan;  // its hash
  std::string text;  // JSON
  std::vector<ChoiceRow> choices;
};

struct Measurement {
  std::string program;
  std::string plan;          // PlanRow::plan
  std::string executable;    // what tells executables apart; "" where it did not come to one
  double stock_seconds = 0;  // a run, median
  double tuned_seconds = 0;
  double speedup = 1;
  double low = 1;  // 95 % interval of the speedup
  double high = 1;
  int pairs = 0;
  double compile_seconds = 0;
  std::string error;   // why there are no figures; "" where there are
  std::string module;  // ModuleRow::module of what was measured; "" where it is not known
};

// An optimised module as cost models see it.
struct ModuleRow {
  std::string module;  // a hash of the graph
  std::string graph;   // a text that the store does not read
};

// A measurement with all that a cost model learns from.
struct MeasuredModule {
  Measurement measurement;
  std::string program_name;
  std::string graph;
  std::vector<ChoiceRow> choices;  // of the plan
};

// A choice with what it has in common with those of other programs: a site's kind, opcode and
// consumer ("fusion_edge add multiply"), "" where the store does not know the site, else the key.
struct AlikeChoice {
  ChoiceRow choice;
  std::string like;
};

// A measurement with all that a policy learns from.
struct MeasuredPlan {
  std::string program;
  double speedup = 1;
  int pairs = 0;
  std::vector<AlikeChoice> choices;
};

// The result of tuning a program.
struct Outcome {
  std::string program;
  std::string plan;
  bool kept = false;     // else the stock compiler's is best, as far as is known
  std::string verified;  // "true", "false", "unknown", "skipped"
  std::string reason;
  double stock_seconds = 0;
  double tuned_seconds = 0;
  double speedup = 1;
  double low = 1;
  double high = 1;
};

// A lesson of a plan that was the best of its program: XTAT's ConfStore[stage][key].
struct Lesson {
  std::string stage;
  std::string key;  // of a site, or a flag's name
  std::string value;
  double gain = 0;  // of that plan: the logarithm of its speedup
  std::string program;
};

// The best that is known of another kind than run time: an order of passes, a memory plan.
struct Answer {
  std::string program;
  std::string kind;      // "order", "memory"
  std::string machine;   // where it holds: Place::Machine(), or the accelerator that is planned for
  std::string xla;       // Pool::version()
  std::string question;  // what else it depends on: objective and passes; the accelerator's data
  double cost = 0;       // lower is better
  std::string verified;  // "true", or what less was made sure of
  std::string text;      // a recipe, a plan's file: the store does not read it
};

struct ListedAnswer {
  ProgramRow program;
  Answer answer;
};

// For listings.
struct ListedOutcome {
  ProgramRow program;
  std::string machine;
  std::string xla;
  Outcome outcome;
  int64_t measurements = 0;
};

}  // namespace hone::store

#endif  // HONE_STORE_ROWS_H_
