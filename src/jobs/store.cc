#include "jobs/store.h"

#include <set>
#include <utility>

#include "jobs/input.h"
#include "jobs/models.h"
#include "jobs/write_file.h"

namespace hone::jobs {
namespace {

constexpr size_t kMostImportBytes = size_t{4} << 30;

FileOr<std::unique_ptr<store::Store>> OpenExisting(const std::string& path) {
  return About(path, store::Store::OpenExisting(path));
}

FileOr<StoreList> ListOf(const store::Store& store, const std::string& path,
                         const std::string& program) {
  auto outcomes = store.List(program);
  if (!outcomes) return Wrong(path, outcomes.error());
  auto answers = store.ListAnswers(program);
  if (!answers) return Wrong(path, answers.error());
  return StoreList{*std::move(outcomes), {}, *std::move(answers)};
}

Json ProgramJson(const std::string& kind, const store::ProgramRow& program) {
  return {{"kind", kind},
          {"program", program.program},
          {"name", program.name},
          {"file", program.file},
          {"instructions", program.instructions}};
}

Json ToJson(const store::ListedOutcome& listed) {
  const store::Outcome& outcome = listed.outcome;
  Json json = ProgramJson("tuning", listed.program);
  json.update(Json{{"machine", listed.machine},
                   {"xla", listed.xla},
                   {"kept", outcome.kept ? "tuned" : "stock"},
                   {"stock_ms", 1000 * outcome.stock_seconds},
                   {"tuned_ms", 1000 * outcome.tuned_seconds},
                   {"speedup", outcome.speedup},
                   {"speedup_ci", {outcome.low, outcome.high}},
                   {"verified", outcome.verified},
                   {"reason", outcome.reason},
                   {"measurements", listed.measurements}});
  return json;
}

Json ToJson(const store::ListedAnswer& listed) {
  const store::Answer& answer = listed.answer;
  Json json = ProgramJson(answer.kind, listed.program);
  json.update(Json{{"machine", answer.machine},
                   {"xla", answer.xla},
                   {"question", answer.question},
                   {"cost", answer.cost},
                   {"verified", answer.verified}});
  return json;
}

}  // namespace

FileOr<std::unique_ptr<store::Store>> OpenStore(const std::string& path) {
  if (path.empty()) return std::unique_ptr<store::Store>();
  return About(path, store::Store::Open(path));
}

FileOr<StoreList> ListStore(const std::string& path) {
  const auto store = OpenExisting(path);
  if (!store) return tl::unexpected(store.error());
  return ListOf(**store, path, "");
}

FileOr<StoreList> ShowStore(const std::string& path, const std::string& program) {
  const auto store = OpenExisting(path);
  if (!store) return tl::unexpected(store.error());
  FileOr<StoreList> list = ListOf(**store, path, program);
  if (!list) return list;
  if (list->outcomes.empty() && list->answers.empty()) {
    return Wrong(path, {ErrorCode::kInvalidInput,
                        "the store has no program whose fingerprint begins with '" + program +
                            "'; `hone store ls` lists them"});
  }
  for (const store::ListedOutcome& row : list->outcomes) {
    StatusOr<std::string> plan = std::string();
    if (!row.outcome.plan.empty()) plan = (*store)->PlanText(row.outcome.plan);
    if (!plan) return Wrong(path, plan.error());
    list->plans.push_back(*std::move(plan));
  }
  return list;
}

Json ToJson(const StoreList& list, bool texts) {
  Json json = Json::array();
  for (size_t i = 0; i < list.outcomes.size(); ++i) {
    json.push_back(ToJson(list.outcomes[i]));
    if (!texts || list.plans[i].empty()) continue;
    json.back()["plan"] = Json::parse(list.plans[i], nullptr, /*allow_exceptions=*/false);
  }
  for (const store::ListedAnswer& row : list.answers) {
    json.push_back(ToJson(row));
    if (!texts) continue;
    json.back()[row.answer.kind == "order" ? "recipe" : "plan"] =
        Json::parse(row.answer.text, nullptr, /*allow_exceptions=*/false);
  }
  return json;
}

FileOr<std::string> ExportStore(const std::string& path) {
  const auto store = OpenExisting(path);
  if (!store) return tl::unexpected(store.error());
  return About(path, (*store)->Export());
}

FileOr<int64_t> ImportIntoStore(const std::string& path, const std::string& lines_file) {
  const auto store = store::Store::Open(path);
  if (!store) return Wrong(path, store.error());
  const StatusOr<std::string> lines = ReadInput(lines_file, kMostImportBytes);
  if (!lines) return Wrong(lines_file, lines.error());
  return About(lines_file, (*store)->Import(*lines));
}

FileOr<int64_t> PruneStore(const std::string& path, double older_than_seconds) {
  const auto store = OpenExisting(path);
  if (!store) return tl::unexpected(store.error());
  return About(path, (*store)->Prune(older_than_seconds));
}

FileOr<LearntChanges> LearnFromStore(const std::string& path, const std::string& output,
                                     const std::string& with) {
  const auto store = OpenExisting(path);
  if (!store) return tl::unexpected(store.error());
  tune::ChangePolicy known;
  if (!with.empty()) {
    auto read = ReadChangePolicy(with);
    if (!read) return Wrong(with, read.error());
    known = *std::move(read);
  }
  if (auto fine = About(output, CheckWritable(output)); !fine) return tl::unexpected(fine.error());
  const auto plans = (*store)->MeasuredPlans();
  if (!plans) return Wrong(path, plans.error());
  const auto examples = tune::ChangeExamples(*plans);
  if (examples.empty()) {
    return Wrong(
        path, {ErrorCode::kInvalidInput,
               "no two of its plans differ in one change; tune programs with `hone tune --store`"});
  }
  tune::ChangePolicy policy(examples);
  policy.Add(known);
  if (auto wrote = WriteIfNamed(output, policy.ToJson()); !wrote) {
    return tl::unexpected(wrote.error());
  }
  std::set<std::string> programs;
  for (const tune::ChangeExample& one : examples) programs.insert(one.program);
  return LearntChanges{programs.size(), examples.size(), policy.known().size(),
                       tune::CrossValidate(examples)};
}

Json ToJson(const LearntChanges& learnt, const std::string& output) {
  const tune::ChangePolicyQuality& quality = learnt.quality;
  return {{"policy", output},
          {"programs", learnt.programs},
          {"examples", learnt.examples},
          {"changes", learnt.changes},
          {"judged", quality.programs},
          {"first", quality.kFirst},
          {"within_5_percent", quality.within},
          {"by_chance", quality.by_chance}};
}

}  // namespace hone::jobs
