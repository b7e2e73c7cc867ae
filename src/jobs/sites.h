// The decisions of a compilation, place by place: listed, and made by hand: `hone sites`.
#ifndef HONE_JOBS_SITES_H_
#define HONE_JOBS_SITES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compile_plan.h"
#include "core/result.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"
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

struct SitesOptions {
  std::string file;
  std::string plan;         // a file, or ""
  std::string plan_output;  // where the plan with the choices is written, where there are any
  std::string where;        // only the sites that this is about; "" is all
  std::vector<std::string> choose;  // as Decide takes them
  bool fast_math = false;
  bool free_entry = false;
};

struct ListedSites {
  Compiled listing;                       // under the plan
  std::vector<const CompileSite*> sites;  // of the listing, those that were asked for
  std::string target;
  // Where something was chosen: in so many places otherwise, and whether the module is the same.
  std::optional<uint64_t> applied;
  bool same_module = false;
};

FileOr<ListedSites> ListSites(const SitesOptions& options, const WorkerOptions& workers,
                              Events& events);

Json ToJson(const ListedSites& listed, const SitesOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_SITES_H_
