#include "loops/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "loops/estimate.h"
#include "loops/search.h"
#include "loops/site_view.h"
#include "loops/tasks.h"
#include "made_up_policy.h"

namespace hone::loops {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const LoopsPolicy> MustRead(const policy::PolicyFile& file) {
  auto policy = LoopsPolicy::Read(policy::WritePolicyFile(file));
  EXPECT_TRUE(policy) << policy.error().message;
  return *policy;
}

Catalogue CatalogueOf(const char* name) {
  return Catalogue(Expand(*ParseTask(FindKnownTask(name)->text)), kEstimatedMachine);
}

TEST(LoopsPolicy, ThinksOfWhatIsLegalOnly) {
  const auto policy = MustRead(MadeUpPolicy(false));
  for (const char* name : {"matmul_64_64_64", "softmax_64_128", "attention_2_8_256_64"}) {
    const Catalogue catalogue = CatalogueOf(name);
    const auto prior = policy->MakePrior(catalogue);
    Scheduled scheduled(catalogue.program());
    Observed state;
    for (int step = 0; step < 6; ++step) {
      const Prior::Opinion opinion = prior->Of(state);
      ASSERT_EQ(opinion.probabilities.size(), catalogue.size());
      const std::vector<bool> mask = catalogue.Mask(scheduled);
      const double sum =
          std::accumulate(opinion.probabilities.begin(), opinion.probabilities.end(), 0.0);
      if (sum == 0) break;  // nothing is left behind the nest at hand
      EXPECT_NEAR(sum, 1, 1e-9);
      size_t likeliest = 0;
      for (size_t i = 0; i < mask.size(); ++i) {
        if (!mask[i]) {
          EXPECT_EQ(opinion.probabilities[i], 0);
        }
        if (opinion.probabilities[i] > opinion.probabilities[likeliest]) likeliest = i;
      }
      ASSERT_TRUE(scheduled.Apply(*catalogue.Decide(scheduled, likeliest)));
      state.passes.push_back(static_cast<uint16_t>(likeliest));
    }
  }
}

// What a search by the policy tries, in order.
std::vector<std::string> Tried(const char* name, const SearchOptions& options, size_t most) {
  const Catalogue catalogue = CatalogueOf(name);
  std::map<std::string, double> known;
  std::vector<std::string> tried;
  const auto measure = [&](const Scheduled& scheduled) -> std::optional<double> {
    const std::string text = ScheduleText(scheduled.schedule());
    if (known.emplace(text, 0).second) tried.push_back(text);
    return std::log(EstimatedCost(scheduled, kEstimatedMachine));
  };
  const Status searched =
      SearchSchedules(catalogue, options, measure, [&] { return tried.size() >= most; });
  EXPECT_TRUE(searched) << searched.error().message;
  return tried;
}

TEST(SearchSchedules, FollowsThePolicyFromPlainLoops) {
  SearchOptions options;
  options.search = "policy_greedy";
  options.policy = MustRead(MadeUpPolicy(true));
  options.from_default = false;
  for (const char* name : {"matmul_64_64_64", "softmax_64_128", "linear_256_768_768"}) {
    const Catalogue catalogue = CatalogueOf(name);
    // By site, for the policy decides nest by nest.
    const std::vector<std::string> tried = Tried(name, options, 100);
    Schedule last = *ParseSchedule(tried.back());
    for (size_t site = 0; site < catalogue.sites().size(); ++site) {
      const auto of_site = [&](const Schedule& schedule) {
        std::string text;
        for (const Step& step : schedule) {
          if (step.site == catalogue.sites()[site]) text += ScheduleText({step});
        }
        return text;
      };
      EXPECT_THAT(of_site(last), ::testing::StartsWith(of_site(catalogue.default_schedule())))
          << name;
    }
  }
}

TEST(SearchSchedules, TheSameSeedTriesTheSame) {
  SearchOptions options;
  options.policy = MustRead(MadeUpPolicy(false));
  for (const char* search : {"policy", "policy_greedy", "local", "mcts"}) {
    options.search = search;
    const auto tried = Tried("softmax_64_128", options, 60);
    EXPECT_EQ(tried, Tried("softmax_64_128", options, 60)) << search;
    EXPECT_LE(tried.size(), 68u);  // a sequence is walked to its end
  }
}

TEST(SearchSchedules, SaysWhatIsMissing) {
  const Catalogue catalogue = CatalogueOf("matmul_64_64_64");
  const auto search = [&](const char* name) {
    SearchOptions options;
    options.search = name;
    return SearchSchedules(
        catalogue, options, [](const Scheduled&) { return 0.0; }, [] { return true; });
  };
  EXPECT_TRUE(search("local"));
  EXPECT_THAT(search("policy").error().message, HasSubstr("hone train --loops"));
  EXPECT_THAT(search("nearest").error().message, HasSubstr("local, greedy"));
  EXPECT_FALSE(search("coreset"));
}

TEST(LoopsPolicy, FilesOfOtherKindsAreRefused) {
  const auto why = [](const policy::PolicyFile& file) {
    const auto read = LoopsPolicy::Read(policy::WritePolicyFile(file));
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(why(MadeUpPolicy(false)), "");
  policy::PolicyFile file = MadeUpPolicy(false);
  file.metadata[policy::kMetadataFormat] = policy::kPolicyFormat;
  EXPECT_THAT(why(file), HasSubstr("hone-policy-1"));
  file = MadeUpPolicy(false);
  file.tensors.erase("policy.offer.0.weight");
  EXPECT_THAT(why(file), HasSubstr("hone train --loops"));
  file = MadeUpPolicy(false);
  file.tensors["policy.state.0.weight"].values[3] = NAN;
  EXPECT_THAT(why(file), HasSubstr("policy.state.0.weight"));
  file = MadeUpPolicy(false);
  file.tensors["policy.state.0.weight"].shape = {4, 7};
  file.tensors["policy.state.0.weight"].values.resize(28);
  EXPECT_THAT(why(file), HasSubstr("does not fit"));
  EXPECT_FALSE(LoopsPolicy::Read("no policy"));
}

}  // namespace
}  // namespace hone::loops
