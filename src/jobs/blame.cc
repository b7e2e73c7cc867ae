#include "jobs/blame.h"

#include <fmt/format.h>

#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "blame/bug_report.h"
#include "blame/flags_text.h"
#include "jobs/open_program.h"
#include "jobs/version.h"
#include "jobs/write_file.h"
#include "tune/pool_evaluator.h"
#include "tune/tune_plan.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

Json FindingJson(blame::Question question, const blame::Finding& finding) {
  Json json;
  json["shows"] = finding.shows == blame::Shows::kYes  ? "yes"
                  : finding.shows == blame::Shows::kNo ? "no"
                                                       : "cannot_tell";
  if (question == blame::Question::kSlower) {
    json["ratio"] = finding.ratio;
    json["ratio_ci"] = {finding.low, finding.high};  // infinity is written as null
    json["pairs"] = finding.pairs;
    json["same_executable"] = finding.same_executable;
    json["ms"] = {1000 * finding.seconds_a, 1000 * finding.seconds_b};
  } else {
    json["reason"] = finding.comparison.reason;
    json["worst_error"] = finding.comparison.worst_error;
  }
  if (!finding.error.empty()) json["error"] = finding.error;
  return json;
}

Json DecisionJson(const blame::Decision& decision) {
  Json json{{"text", blame::Describe(decision)},
            {"kind", blame::DifferenceKindName(decision.difference.kind)},
            {"name", decision.difference.name},
            {"from", decision.difference.from},
            {"to", decision.difference.to},
            {"instruction", blame::InstructionOf(decision)}};
  json["rewrites"] = Json::array();
  for (const RewriteSite& site : decision.rewrites) {
    json["rewrites"].push_back({{"kind", RewriteKindName(site.kind)},
                                {"computation", site.computation},
                                {"instruction", site.instruction},
                                {"opcode", site.opcode},
                                {"original", site.original},
                                {"replacement", site.replacement}});
  }
  json["sites"] = Json::array();
  for (const blame::DecidedSite& one : decision.sites) {
    json["sites"].push_back({{"kind", CompileSiteKindName(one.site.kind)},
                             {"instruction", one.site.instruction},
                             {"opcode", one.site.opcode},
                             {"user", one.site.user},
                             {"places", one.site.places},
                             {"value", one.value},
                             {"stock", one.site.choices[one.site.stock]}});
  }
  return json;
}

Json KernelsJson(const std::vector<blame::KernelChange>& kernels) {
  Json json = Json::array();
  for (const blame::KernelChange& change : kernels) {
    json.push_back({{"a", change.name_a},
                    {"b", change.name_b},
                    {"what", change.what},
                    {"kernels", {change.kernels_a, change.kernels_b}},
                    {"ms", {1000 * change.seconds_a, 1000 * change.seconds_b}}});
  }
  return json;
}

Json CauseJson(blame::Question question, const blame::Cause& cause) {
  Json json;
  json["decisions"] = Json::array();
  for (const blame::Decision& decision : cause.decisions) {
    json["decisions"].push_back(DecisionJson(decision));
  }
  json["by_itself"] = FindingJson(question, cause.with);
  json["left_out"] = FindingJson(question, cause.without);
  json["source"] = cause.source;
  json["kernels"] = KernelsJson(cause.kernels);
  if (cause.first) {
    json["first_difference"] = {{"computation", cause.first->computation},
                                {"instruction", cause.first->instruction},
                                {"opcode", cause.first->opcode},
                                {"shape", cause.first->shape},
                                {"source", cause.first->source},
                                {"worst_absolute", cause.first->error.worst_absolute},
                                {"elements", cause.first->error.elements_over}};
  }
  if (cause.reduced) {
    json["reduced"] = {{"hlo", cause.reduced->text},
                       {"instructions", cause.reduced->instructions},
                       {"minimal", cause.reduced->minimal},
                       {"finding", FindingJson(question, cause.reduced->finding)}};
  }
  return json;
}

struct NamedFile {
  std::string name;
  std::string bytes;
};

// The program after the plan's passes; "" where they change nothing or cannot be run.
std::string AfterPasses(Pool& pool, const std::string& text, const tune::TunePlan& plan) {
  if (plan.passes.empty()) return {};
  const auto program = pool.Load(text);
  if (!program) return {};
  const auto state = tune::StateAfter(pool, program->id, plan.passes);
  if (!state) return {};
  const auto exported = pool.Export(*state, ExportFormat::kText);
  return exported ? exported->bytes : std::string();
}

std::vector<NamedFile> FilesOf(Pool& pool, const blame::Answer& answer, const blame::Cause& cause,
                               const std::string& stem, blame::ReportFacts facts) {
  std::vector<NamedFile> files;
  if (cause.reduced) {
    facts.reduced = stem + ".hlo";
    facts.plan = stem + ".plan.json";
    files.push_back({facts.reduced, cause.reduced->text});
    files.push_back({facts.plan, tune::TunePlanToJson(cause.reduced->b)});
    std::string after = AfterPasses(pool, cause.reduced->text, cause.reduced->b);
    if (!after.empty()) {
      facts.after = stem + ".after.hlo";
      files.push_back({facts.after, std::move(after)});
    }
  }
  files.push_back({stem + ".md", blame::BugReport(answer, cause, facts)});
  return files;
}

// For each cause QUESTION-N.md, the small program where there is one, and the decision as a plan
// for it. `rules` are --rules' files, `a` the plan that is held to be good.
std::vector<NamedFile> BugReports(Pool& pool, const std::string& file,
                                  const std::vector<std::string>& rules, const tune::TunePlan& a,
                                  const blame::BlameResult& result) {
  const std::string machine = fmt::format("{} threads", std::thread::hardware_concurrency());
  blame::ReportFacts facts{file, pool.version(), HoneVersion(), machine, a, "", "", "", ""};
  for (const std::string& one : rules) facts.rules += " --rules " + one;
  std::vector<NamedFile> all;
  for (const blame::Answer& answer : result.answers) {
    for (size_t i = 0; i < answer.causes.size(); ++i) {
      const std::string stem = fmt::format("{}-{}", blame::QuestionName(answer.question), i + 1);
      for (NamedFile& one : FilesOf(pool, answer, answer.causes[i], stem, facts)) {
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}

Status WriteAll(const std::string& folder, const std::vector<NamedFile>& files) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  }
  for (const auto& [name, bytes] : files) {
    if (Status wrote = WriteFile((fs::path(folder) / name).string(), bytes); !wrote) return wrote;
  }
  return {};
}

// A plan of a file, with flags beside its own.
StatusOr<tune::TunePlan> PlanOf(const std::string& file, const std::string& flags) {
  FileOr<tune::TunePlan> plan = ReadPlan(file);
  if (!plan) return tl::unexpected(InOne(plan.error()));
  StatusOr<blame::Flags> more = blame::FlagsFromText(flags);
  if (!more) return tl::unexpected(more.error());
  for (auto& flag : *more) {
    std::erase_if(plan->compile.flags, [&](const auto& old) { return old.first == flag.first; });
    plan->compile.flags.push_back(std::move(flag));
  }
  Sort(plan->compile);
  return *std::move(plan);
}

// A program that can be run.
FileOr<ProgramInfo> Load(Pool& pool, std::string data, const std::string& file, Events& events) {
  FileOr<ProgramInfo> program = LoadNamed(pool, std::move(data), file, events);
  if (program && program->elided_constants) return Wrong(file, ElidedConstants());
  return program;
}

void Tell(Events& events, blame::BlameOptions& options) {
  options.interrupted = events.stop();
  options.progress = [&events](const std::string& line) { events.Show(line); };
}

}  // namespace

StatusOr<blame::BlameResult> BlamePrograms(Pool& pool, const ProgramInfo& a, const ProgramInfo& b,
                                           blame::BlameOptions options, Events& events) {
  const ClearAtEnd clear(events);
  Tell(events, options);
  return blame::BlamePrograms(pool, a, b, options);
}

FileOr<Blamed> Blame(BlameOptions options, const WorkerOptions& workers, Events& events) {
  const bool ways = !options.plan.empty() || !options.flags_b.empty() || !options.plan_a.empty() ||
                    !options.flags_a.empty();
  if (ways == !options.other.empty()) {
    return Wrong(options.file,
                 {ErrorCode::kInvalidInput,
                  ways ? "two programs are compiled as they are; give a plan or flags with one only"
                       : "nothing to hold against the stock compiler; give --plan or --flags-b"});
  }
  StatusOr<tune::TunePlan> a = PlanOf(options.plan_a, options.flags_a);
  if (!a) return Wrong("", a.error());
  StatusOr<tune::TunePlan> b = PlanOf(options.plan, options.flags_b);
  if (!b) return Wrong("", b.error());
  blame::BlameOptions& blaming = options.blame;
  blaming.a = *std::move(a);
  blaming.b = *std::move(b);
  blaming.slower = options.question != "different";
  blaming.different = options.question != "slower";
  FileOr<std::string> data = ReadNamed(options.file, workers);
  if (!data) return tl::unexpected(data.error());
  FileOr<std::string> other;
  if (!options.other.empty()) other = ReadNamed(options.other, workers);
  if (!other) return tl::unexpected(other.error());
  const auto pool = StartPool(workers, events);
  if (!pool) return Wrong("", pool.error());
  const FileOr<ProgramInfo> program = Load(**pool, *std::move(data), options.file, events);
  if (!program) return tl::unexpected(program.error());
  FileOr<ProgramInfo> against;
  if (!options.other.empty()) against = Load(**pool, *std::move(other), options.other, events);
  if (!against) return tl::unexpected(against.error());
  events.HoldInterrupts();
  Tell(events, blaming);
  StatusOr<blame::BlameResult> result =
      options.other.empty() ? blame::Blame(**pool, *program, blaming)
                            : blame::BlamePrograms(**pool, *program, *against, blaming);
  events.Clear();
  if (!result) return Wrong(options.file, result.error());
  if (!options.output.empty()) {
    const auto reports = BugReports(**pool, options.file, workers.rules, blaming.a, *result);
    if (Status wrote = WriteAll(options.output, reports); !wrote) {
      return Wrong(options.output, wrote.error());
    }
  }
  return Blamed{*program, *std::move(result)};
}

Json ToJson(const std::string& file, const std::string& other, const blame::BlameResult& result) {
  Json json{{"file", file}};
  if (!other.empty()) json["other"] = other;
  json["differences"] = result.differences.size();
  json["answers"] = Json::array();
  for (const blame::Answer& answer : result.answers) {
    Json one{{"question", blame::QuestionName(answer.question)},
             {"b_against_a", FindingJson(answer.question, answer.whole)},
             {"settled", answer.settled},
             {"reason", answer.reason}};
    one["causes"] = Json::array();
    for (const blame::Cause& cause : answer.causes) {
      one["causes"].push_back(CauseJson(answer.question, cause));
    }
    one["kernels"] = KernelsJson(answer.kernels);
    json["answers"].push_back(std::move(one));
  }
  json["seconds"] = result.seconds;
  json["interrupted"] = result.interrupted;
  return json;
}

Json ToJson(const Blamed& blamed, const BlameOptions& options) {
  Json json = ToJson(options.file, options.other, blamed.result);
  AddStandIns(blamed.program, json);
  return json;
}

}  // namespace hone::jobs
