// A trained policy over schedules at work, without torch: where search/ asks for a prior.
#ifndef HONE_LOOPS_POLICY_H_
#define HONE_LOOPS_POLICY_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "loops/catalogue.h"
#include "policy/offer_network.h"
#include "search/prior.h"

namespace hone::loops {

// In a policy file's metadata, under policy::kMetadataFormat: a network under "policy" that scores
// what site_view.h shows. It changes with what is shown.
inline constexpr const char* kLoopsPolicyFormat = "hone-loops-policy-1";

// Immutable once read; thread-safe.
class LoopsPolicy {
 public:
  // Errors: what is wrong with the file, and what to do.
  static StatusOr<std::shared_ptr<const LoopsPolicy>> Read(std::string_view bytes);

  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  // Over the catalogue's numbers, all of them in order. A state is told by the numbers that led to
  // it (Observed::passes); the nest whose turn it is is that of the last one. A decision about a
  // later nest is as likely as that the nests before it are passed over and it is taken then. The
  // catalogue must outlive the prior.
  std::shared_ptr<const Prior> MakePrior(const Catalogue& catalogue) const;

 private:
  std::map<std::string, std::string> metadata_;
  policy::OfferNetwork network_;
  double temperature_ = 1;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_POLICY_H_
