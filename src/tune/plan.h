// Decisions about the rewrites of one pass, for people and files.
#ifndef HONE_TUNE_PLAN_H_
#define HONE_TUNE_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/rewrite.h"

namespace hone {

// A plan names sites by what they look like, so that it can be followed on other programs too.
struct Plan {
  std::string pass;     // by name
  Decisions decisions;  // about its rewrites
  friend bool operator==(const Plan& a, const Plan& b) {
    return a.pass == b.pass && a.decisions == b.decisions;
  }
};

// {"format": "hone plan", "version": 1, "pass", "otherwise", "seed",
//  "choices": {"<16 hex digits>": bool, …}}
std::string PlanToJson(const Plan& plan);
// The error names the field that is wrong.
StatusOr<Plan> PlanFromJson(std::string_view text);

// Exactly these sites of a listing, by place: on the state that was listed.
Decisions ChooseSites(const Rewrites& rewrites, const std::vector<uint32_t>& sites);
// The same by content, for a plan: what looks like a chosen site is accepted everywhere. Where
// chosen and other sites look the same the choice is by majority.
Decisions ChooseContents(const Rewrites& rewrites, const std::vector<uint32_t>& sites);

// "all", "none", a name of Otherwise, or "0,3,7-9": numbers of sites.
StatusOr<Decisions> DecisionsFromText(std::string_view text, const Rewrites& rewrites);

// As written to hone plans and JSON: 16 hexadecimal digits.
std::string KeyText(SiteKey key);

}  // namespace hone

#endif  // HONE_TUNE_PLAN_H_
