// The decisions about a program's compilation, as variables of a search.
#ifndef HONE_TUNE_SPACE_H_
#define HONE_TUNE_SPACE_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/compile_plan.h"
#include "search/choices/choices.h"
#include "tune/evaluator.h"
#include "tune/kernel_shares.h"
#include "tune/tune_plan.h"

namespace hone::tune {

// What a variable decides. Its name: a site's key as hexadecimal digits, a flag's name, an
// implementation's pass, or "order".
struct Decision {
  enum class Kind { kSite, kFlag, kPass, kOrder };
  Kind kind = Kind::kSite;
  Stage stage = Stage::kFlags;
  std::string name;
  // The name by which it is known across programs: a site's kind, opcode and consumer, else `name`.
  std::string like;
  SiteKey key = 0;
  // By the variable's choice. Of passes and orders: "", then names of alternatives.
  std::vector<std::string> values;
};

// The only decision about orders, by its name.
inline constexpr char kOrderName[] = "order";

// An implementation or an order: raced alone, before the search.
inline bool IsAlternative(const Decision& decision) {
  return decision.kind == Decision::Kind::kPass || decision.kind == Decision::Kind::kOrder;
}

struct Space {
  std::vector<Decision> decisions;
  std::vector<choices::Variable> variables;  // one for each decision
  std::vector<Alternative> alternatives;
  // Sites whose decision the optimised module may not show: with these, equal modules can still be
  // different executables.
  std::set<SiteKey> behind_the_module;
};

struct Stages {
  std::vector<Stage> list;  // each once, in the pipeline's order
  bool Has(Stage stage) const;
};
// "layout,fusion,tiles"; the error lists the names.
StatusOr<Stages> StagesFromText(std::string_view text);
Stages AllStages();

void AddAlternatives(const std::vector<Alternative>& alternatives, const Stages& stages,
                     Space& space);
// Adds the decisions of the listing that the space does not have yet. Their weight grows with the
// time that they are about, or with the bytes moved where times are not known. True where there
// were any.
bool AddListing(const Compiled& listing, const Stages& stages, const KernelShares& shares,
                Space& space);

// Assignments of one flag each, of those that can matter much (FlagChoices::first), or that are
// about instructions which take much of the time. Flags that leave out a pass are not among them,
// for there are many.
std::vector<choices::Assignment> FirstFlags(const Space& space, const KernelShares& shares);

// The plan has only the choices that differ from the stock compiler's.
TunePlan PlanOf(const Space& space, const choices::Assignment& assignment);
// The plan's decisions that the space does not have are left out.
choices::Assignment AssignmentOf(const Space& space, const TunePlan& plan);

// A choice off stock, for stores and people.
struct NamedChoice {
  Stage stage = Stage::kFlags;
  std::string name;
  std::string value;
};
std::vector<NamedChoice> ChoicesOf(const Space& space, const choices::Assignment& assignment);

// Stock but for these alternatives, by name.
choices::Assignment WithAlternatives(const Space& space, const std::vector<std::string>& names);

// The stage of the first decision in which the two differ.
Stage FirstChanged(const Space& space, const choices::Assignment& a, const choices::Assignment& b);

}  // namespace hone::tune

#endif  // HONE_TUNE_SPACE_H_
