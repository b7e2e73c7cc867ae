#include "jobs/split_dataset.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "dataset/index.h"
#include "dataset/split.h"
#include "jobs/write_file.h"

namespace hone::jobs {
namespace {

// "0.7,0.15,0.15": of train, validation and test.
StatusOr<std::array<double, 3>> ParseFractions(const std::string& text) {
  std::array<double, 3> fractions{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t i = 0; i < fractions.size(); ++i) {
    const auto [stop, error] = std::from_chars(at, end, fractions[i]);
    const bool last = i + 1 == fractions.size();
    if (error != std::errc() || (last ? stop != end : stop == end || *stop != ',')) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("--fractions: '{}' is not three numbers; give those of train, "
                                   "validation and test, such as 0.7,0.15,0.15",
                                   text));
    }
    at = stop + 1;
  }
  if (Status fine = dataset::CheckFractions(fractions); !fine) return tl::unexpected(fine.error());
  return fractions;
}

}  // namespace

FileOr<SplitIndex> SplitDataset(const SplitOptions& options, Events& events) {
  const auto fractions = ParseFractions(options.fractions);
  if (!fractions) return Wrong("", fractions.error());
  const std::string path = dataset::IndexPath(options.folder);
  auto index = About(path, dataset::ReadIndex(options.folder));
  if (!index) return tl::unexpected(index.error());
  const auto by = options.by == "hash" ? dataset::SplitBy::kHash : dataset::SplitBy::kFamily;
  const auto units = About(path, dataset::AssignSplits(*index, {by, *fractions, options.seed}));
  if (!units) return tl::unexpected(units.error());
  if (auto wrote = WriteIfNamed(path, dataset::FormatIndex(*index)); !wrote) {
    return tl::unexpected(wrote.error());
  }
  SplitIndex split{{}, index->rows.size()};
  for (size_t i = 0; i < dataset::Splits().size(); ++i) {
    SplitShare share{dataset::Splits()[i], (*fractions)[i], 0, 0};
    for (const dataset::Unit& unit : *units) {
      if (unit.split != share.split) continue;
      ++share.units;
      share.programs += unit.programs;
    }
    if (share.programs == 0 && share.fraction > 0) {
      events.Warn(path, fmt::format("no program is for {}: there are only {} units; another --seed "
                                    "may give it some",
                                    share.split, units->size()));
    }
    split.shares.push_back(share);
  }
  return split;
}

Json ToJson(const SplitIndex& split, const SplitOptions& options) {
  Json json{{"folder", options.folder}, {"by", options.by}, {"seed", options.seed}};
  json["splits"] = Json::object();
  for (const SplitShare& share : split.shares) {
    json["splits"][share.split] = {
        {"fraction", share.fraction}, {"units", share.units}, {"programs", share.programs}};
  }
  return json;
}

}  // namespace hone::jobs
