#include "loops/site_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/rng.h"
#include "loops/estimate.h"
#include "loops/tasks.h"

namespace hone::loops {
namespace {

Catalogue CatalogueOf(const std::string& text) {
  const auto task = ParseTask(text);
  EXPECT_TRUE(task) << task.error().message;
  return Catalogue(Expand(*task), kEstimatedMachine);
}

// Some legal decisions at random.
Scheduled Walked(const Catalogue& catalogue, Rng& rng) {
  Scheduled scheduled(catalogue.program());
  for (size_t steps = rng.Below(8); steps > 0; --steps) {
    const std::vector<bool> mask = catalogue.Mask(scheduled);
    std::vector<size_t> legal;
    for (size_t i = 0; i < mask.size(); ++i) {
      if (mask[i]) legal.push_back(i);
    }
    if (legal.empty()) break;
    EXPECT_TRUE(scheduled.Apply(*catalogue.Decide(scheduled, rng.Pick(legal))));
  }
  return scheduled;
}

TEST(SiteView, OffersWhatTheCatalogueDoes) {
  Rng rng(1);
  for (const KnownTask& known : DrawTasks(20, 3)) {
    const Catalogue catalogue = CatalogueOf(known.text);
    const Scheduled scheduled = Walked(catalogue, rng);
    const std::vector<bool> mask = catalogue.Mask(scheduled);
    for (size_t site = 0; site < catalogue.sites().size(); ++site) {
      const auto first = mask.begin() + static_cast<ptrdiff_t>(site * kSiteDecisions);
      const std::vector<bool> here(first, first + kSiteDecisions);
      const bool any = std::count(here.begin(), here.end(), true) > 0;
      EXPECT_EQ(catalogue.OffersAny(scheduled, site), any);
      if (scheduled.program().FindSite(catalogue.sites()[site]) < 0) {
        EXPECT_FALSE(any);
        continue;
      }
      const SiteView view = LookAtSite(catalogue, scheduled, site);
      EXPECT_TRUE(std::equal(here.begin(), here.end(), view.mask.begin())) << known.name;
      EXPECT_TRUE(view.mask.back());
      for (const float number : view.features) EXPECT_LT(std::abs(number), 10) << known.name;
      for (const float number : view.offers) EXPECT_LT(std::abs(number), 10) << known.name;
    }
  }
}

// Or a network could not tell them apart.
TEST(SiteView, DifferentDecisionsLookDifferent) {
  Rng rng(2);
  for (const KnownTask& known : DrawTasks(20, 4)) {
    const Catalogue catalogue = CatalogueOf(known.text);
    const Scheduled scheduled = Walked(catalogue, rng);
    const size_t site = SiteOrder(catalogue)[0];
    const SiteView view = LookAtSite(catalogue, scheduled, site);
    std::set<std::vector<float>> rows;
    size_t offered = 0;
    for (size_t i = 0; i < kSiteActions; ++i) {
      const auto row = view.offers.begin() + static_cast<ptrdiff_t>(i * kOfferFeatures);
      const std::vector<float> numbers(row, row + kOfferFeatures);
      if (view.mask[i]) {
        rows.insert(numbers);
        ++offered;
      } else {
        EXPECT_EQ(numbers, std::vector<float>(kOfferFeatures, 0));
      }
    }
    EXPECT_EQ(rows.size(), offered) << known.name << "\n" << ScheduleText(scheduled.schedule());
  }
}

TEST(SiteView, ConsumersComeFirst) {
  const Catalogue catalogue = CatalogueOf(FindKnownTask("linear_256_768_768")->text);
  std::vector<std::string> names;
  for (const size_t site : SiteOrder(catalogue)) names.push_back(catalogue.sites()[site]);
  EXPECT_EQ(names,
            (std::vector<std::string>{"r", "z", "z.pack0", "z.pack1", "y", "y.pack0", "y.pack1"}));
  const Scheduled scheduled(catalogue.program());
  EXPECT_EQ(NextPlace(catalogue, scheduled, SiteOrder(catalogue), 2), 4u);  // nothing is packed
  EXPECT_EQ(NextPlace(catalogue, scheduled, SiteOrder(catalogue), 5), 7u);
}

TEST(SiteView, TellsWhatRulesOfThumbWouldDo) {
  const Catalogue catalogue = CatalogueOf(FindKnownTask("matmul_64_64_64")->text);
  Scheduled scheduled(catalogue.program());
  for (const Step& step : catalogue.default_schedule()) {
    const size_t site = static_cast<size_t>(
        std::find(catalogue.sites().begin(), catalogue.sites().end(), step.site) -
        catalogue.sites().begin());
    EXPECT_EQ(catalogue.RuleOfThumb(scheduled, site), step);
    const SiteView view = LookAtSite(catalogue, scheduled, site);
    size_t wanted = 0;
    for (size_t i = 0; i < kSiteActions; ++i) {
      if (view.offers[i * kOfferFeatures + kStepKinds + 1] == 0) continue;
      ++wanted;
      EXPECT_EQ(catalogue.Decide(scheduled, site * kSiteDecisions + i), step);
    }
    EXPECT_EQ(wanted, 1u);
    ASSERT_TRUE(scheduled.Apply(step));
  }
}

TEST(DrawTasks, AreTasksOfTenKindsAndOfTheSeed) {
  const std::vector<KnownTask> tasks = DrawTasks(40, 7);
  ASSERT_EQ(tasks.size(), 40u);
  std::set<std::string> kinds, names;
  for (const KnownTask& task : tasks) {
    const auto parsed = ParseTask(task.text);
    EXPECT_TRUE(parsed) << task.text << parsed.error().message;
    kinds.insert(task.kind);
    names.insert(task.name);
  }
  EXPECT_EQ(kinds.size(), 10u);
  EXPECT_EQ(names.size(), tasks.size());
  EXPECT_EQ(DrawTasks(40, 7)[39].text, tasks[39].text);
  EXPECT_NE(DrawTasks(40, 8)[39].text, tasks[39].text);
}

}  // namespace
}  // namespace hone::loops
