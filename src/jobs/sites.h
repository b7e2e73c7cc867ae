// The decisions of a compilation, place by place: listed, and made by hand.
#ifndef HONE_JOBS_SITES_H_
#define HONE_JOBS_SITES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/compile_plan.h"
#include "core/result.h"
#include "jobs/json.h"
#include "tune/tune_plan.h"

namespace hone::jobs {

// Some sites, and one of their choices: "WHERE=VALUE". WHERE is a site's key as KeyText has it, an
// instruction's name, a kind (CompileSiteKindName), or a kind and an opcode, "gemm:dot".
struct Choosing {
  std::string where;
  std::string value;
};

// Error: kInvalidInput where there is no "=".
StatusOr<Choosing> ChoosingFromText(std::string_view text);

// The sites that `where` is about, in their order.
std::vector<const CompileSite*> SitesAt(const std::vector<CompileSite>& sites,
                                        std::string_view where);

// Puts the choice into the plan at each of the sites that has it; what the plan says there already
// gives way. The number of sites. Error: kInvalidInput where there is none, naming what there is.
StatusOr<size_t> Choose(const std::vector<CompileSite>& sites, const Choosing& choosing,
                        tune::TunePlan& plan);

// "WHERE=VALUE" as Choose takes it, or "FLAG=VALUE"; later ones count.
Status Decide(const std::vector<std::string>& choices, const Compiled& listing,
              tune::TunePlan& plan);

// {"sites", "flags"}
Json SitesJson(const std::vector<const CompileSite*>& sites, const std::vector<FlagChoices>& flags);

}  // namespace hone::jobs

#endif  // HONE_JOBS_SITES_H_
