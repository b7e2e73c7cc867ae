#include "store/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "store/schema.h"
#include "store/sql.h"

namespace hone::store {
namespace {

constexpr int kBusyMilliseconds = 10000;
constexpr double kMost = 1e9;  // in place of infinity, which JSON does not have

int64_t MicrosecondsNow() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string KeyText(SiteKey key) { return fmt::format("{:016x}", key); }

double Finite(double number) { return std::clamp(number, -kMost, kMost); }

Status AddPlans(sqlite3* db, const std::vector<PlanRow>& plans) {
  Statement plan(db, InsertSql(TableNamed("plans")));
  Statement choice(db, InsertSql(TableNamed("choices")));
  for (const PlanRow& row : plans) {
    if (Status added = plan.Bind(row.plan).Bind(row.text).Run(); !added) return added;
    for (const ChoiceRow& one : row.choices) {
      const Status added =
          choice.Bind(row.plan).Bind(one.stage).Bind(one.key).Bind(one.value).Run();
      if (!added) return added;
    }
  }
  return {};
}

// The row's first twelve columns, in Measurement's order.
Measurement MeasurementOf(const Statement& query) {
  return {query.Text(0),   query.Text(1),   query.Text(2),
          query.Number(3), query.Number(4), query.Number(5),
          query.Number(6), query.Number(7), static_cast<int>(query.Whole(8)),
          query.Number(9), query.Text(10),  query.Text(11)};
}

// Whether it is a stage of sites, whose keys are a program's own.
bool IsOfSites(const std::string& stage) {
  for (size_t kind = 0; kind < std::size(kCompileSiteKindNames); ++kind) {
    if (stage == StageName(StageOf(static_cast<CompileSiteKind>(kind)))) return true;
  }
  return false;
}

Status AddMachine(sqlite3* db, const Place& place) {
  Statement machine(db, InsertSql(TableNamed("machines")));
  return machine.Bind(place.Machine()).Bind(place.cpu).Bind(int64_t{place.cores}).Run();
}

StatusOr<sqlite3*> OpenFile(const std::string& path, int flags) {
  sqlite3* db = nullptr;
  if (sqlite3_open_v2(path.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
    const tl::unexpected<Error> error = SqlError(db, "opening it");
    sqlite3_close(db);
    return error;
  }
  sqlite3_busy_timeout(db, kBusyMilliseconds);
  // A killed process loses its last transactions at worst, never the file. Changing the mode is
  // refused without waiting while another process makes the file, so it is tried again.
  Status prepared;
  for (int attempt = 0; attempt < 50; ++attempt) {
    prepared = Execute(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    if (prepared || sqlite3_errcode(db) != SQLITE_BUSY) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (prepared) prepared = PrepareSchema(db);
  if (!prepared) {
    sqlite3_close(db);
    return tl::unexpected(prepared.error());
  }
  return db;
}

}  // namespace

StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& path) {
  const StatusOr<sqlite3*> db = OpenFile(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!db) return tl::unexpected(db.error());
  return std::unique_ptr<Store>(new Store(*db));
}

StatusOr<std::unique_ptr<Store>> Store::OpenExisting(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) {
    return MakeError(
        ErrorCode::kInvalidInput,
        "there is no such file; --store FILE of tune, optimize or memory makes a store");
  }
  return Open(path);
}

Store::~Store() { sqlite3_close(db_); }

Status Store::AddProgram(const ProgramRow& program, const std::vector<CompileSite>& sites) {
  Transaction transaction(db_);
  if (!transaction.begun()) return transaction.begun();
  Statement row(db_, InsertSql(TableNamed("programs")));
  row.Bind(program.program).Bind(program.name).Bind(program.file).Bind(program.instructions);
  if (Status added = row.Run(); !added) return added;
  Statement site_row(db_, InsertSql(TableNamed("sites")));
  Statement place_row(db_, InsertSql(TableNamed("program_sites")));
  for (const CompileSite& site : sites) {
    const std::string key = KeyText(site.key);
    const std::string stock =
        site.stock < site.choices.size() ? site.choices[site.stock] : std::string();
    site_row.Bind(key).Bind(CompileSiteKindName(site.kind)).Bind(StageName(StageOf(site.kind)));
    site_row.Bind(site.opcode).Bind(site.user).Bind(nlohmann::json(site.choices).dump());
    if (Status added = site_row.Bind(stock).Run(); !added) return added;
    place_row.Bind(program.program).Bind(key).Bind(site.instruction);
    place_row.Bind(int64_t{site.places}).Bind(site.bytes);
    if (Status added = place_row.Run(); !added) return added;
  }
  return transaction.Commit();
}

Status Store::AddMeasurements(const Place& place, const std::vector<Measurement>& measurements,
                              const std::vector<PlanRow>& plans,
                              const std::vector<ModuleRow>& modules) {
  Transaction transaction(db_);
  if (!transaction.begun()) return transaction.begun();
  if (Status added = AddMachine(db_, place); !added) return added;
  if (Status added = AddPlans(db_, plans); !added) return added;
  Statement module_row(db_, InsertSql(TableNamed("modules")));
  for (const ModuleRow& module : modules) {
    if (Status added = module_row.Bind(module.module).Bind(module.graph).Run(); !added)
      return added;
  }
  Statement row(db_, InsertSql(TableNamed("measurements")));
  int64_t at = MicrosecondsNow();
  for (const Measurement& one : measurements) {
    row.Bind(one.program).Bind(place.Machine()).Bind(place.xla).Bind(place.hone).Bind(one.plan);
    row.Bind(at++).Bind(one.executable).Bind(one.stock_seconds).Bind(one.tuned_seconds);
    row.Bind(Finite(one.speedup)).Bind(Finite(one.low)).Bind(Finite(one.high));
    row.Bind(int64_t{one.pairs}).Bind(one.compile_seconds).Bind(one.error).Bind(one.module);
    if (Status added = row.Run(); !added) return added;
  }
  return transaction.Commit();
}

Status Store::AddOutcome(const Place& place, const Outcome& outcome, const PlanRow& plan) {
  Transaction transaction(db_);
  if (!transaction.begun()) return transaction.begun();
  if (Status added = AddMachine(db_, place); !added) return added;
  if (Status added = AddPlans(db_, {plan}); !added) return added;
  Statement row(db_, InsertSql(TableNamed("outcomes")));
  row.Bind(outcome.program).Bind(place.Machine()).Bind(place.xla).Bind(MicrosecondsNow());
  row.Bind(outcome.plan).Bind(int64_t{outcome.kept}).Bind(outcome.verified).Bind(outcome.reason);
  row.Bind(outcome.stock_seconds).Bind(outcome.tuned_seconds).Bind(Finite(outcome.speedup));
  row.Bind(Finite(outcome.low)).Bind(Finite(outcome.high));
  if (Status added = row.Run(); !added) return added;
  return transaction.Commit();
}

Status Store::AddLessons(const Place& place, const std::vector<Lesson>& lessons) {
  Transaction transaction(db_);
  if (!transaction.begun()) return transaction.begun();
  if (Status added = AddMachine(db_, place); !added) return added;
  Statement row(db_, InsertSql(TableNamed("lessons")));
  for (const Lesson& lesson : lessons) {
    row.Bind(place.Machine()).Bind(lesson.stage).Bind(lesson.key).Bind(lesson.value);
    if (Status added = row.Bind(lesson.gain).Bind(lesson.program).Run(); !added) return added;
  }
  return transaction.Commit();
}

StatusOr<std::vector<Lesson>> Store::Lessons(const Place& place) const {
  Statement query(db_,
                  "SELECT stage, key, value, gain, program FROM lessons WHERE machine = ? "
                  "ORDER BY stage, key");
  query.Bind(place.Machine());
  return AllRows(query, [&] {
    return Lesson{query.Text(0), query.Text(1), query.Text(2), query.Number(3), query.Text(4)};
  });
}

StatusOr<std::vector<Measurement>> Store::Measurements(const Place& place,
                                                       const std::string& program) const {
  Statement query(db_,
                  "SELECT program, plan, executable, stock_seconds, tuned_seconds, speedup, low, "
                  "high, pairs, compile_seconds, error, module FROM measurements "
                  "WHERE program = ? AND machine = ? AND xla = ? ORDER BY at");
  query.Bind(program).Bind(place.Machine()).Bind(place.xla);
  return AllRows(query, [&] { return MeasurementOf(query); });
}

StatusOr<std::vector<MeasuredModule>> Store::MeasuredModules(const Place& place) const {
  Statement query(db_,
                  "SELECT m.program, m.plan, m.executable, m.stock_seconds, m.tuned_seconds, "
                  "m.speedup, m.low, m.high, m.pairs, m.compile_seconds, m.error, m.module, "
                  "coalesce(p.file, ''), g.graph FROM measurements m "
                  "JOIN modules g ON g.module = m.module "
                  "LEFT JOIN programs p ON p.program = m.program "
                  "WHERE m.machine = ? AND m.error = '' ORDER BY m.program, m.at");
  query.Bind(place.Machine());
  Statement choices(db_,
                    "SELECT stage, key, value FROM choices WHERE plan = ? ORDER BY stage, key");
  auto found = AllRows(query, [&] {
    return MeasuredModule{MeasurementOf(query), query.Text(12), query.Text(13), {}};
  });
  if (!found) return found;
  for (MeasuredModule& one : *found) {
    auto of_plan = AllRows(choices.Bind(one.measurement.plan), [&] {
      return ChoiceRow{choices.Text(0), choices.Text(1), choices.Text(2)};
    });
    if (!of_plan) return tl::unexpected(of_plan.error());
    one.choices = *std::move(of_plan);
    choices.Reset();
  }
  return found;
}

StatusOr<std::vector<MeasuredPlan>> Store::MeasuredPlans() const {
  Statement query(db_,
                  "SELECT program, speedup, pairs, plan FROM measurements WHERE error = '' "
                  "ORDER BY program, at, plan");
  const auto rows = AllRows(query, [&] {
    return std::pair(
        query.Text(3),
        MeasuredPlan{query.Text(0), query.Number(1), static_cast<int>(query.Whole(2)), {}});
  });
  if (!rows) return tl::unexpected(rows.error());
  Statement choices(db_,
                    "SELECT c.stage, c.key, c.value, coalesce(s.kind, ''), coalesce(s.opcode, ''), "
                    "coalesce(s.consumer, '') FROM choices c LEFT JOIN sites s ON s.site = c.key "
                    "WHERE c.plan = ? ORDER BY c.stage, c.key");
  std::vector<MeasuredPlan> found;
  for (const auto& [plan, measured] : *rows) {
    auto of_plan = AllRows(choices.Bind(plan), [&] {
      const ChoiceRow choice{choices.Text(0), choices.Text(1), choices.Text(2)};
      const std::string kind = choices.Text(3);
      const std::string unknown = IsOfSites(choice.stage) ? "" : choice.key;
      return AlikeChoice{
          choice, kind.empty() ? unknown : AlikeText(kind, choices.Text(4), choices.Text(5))};
    });
    if (!of_plan) return tl::unexpected(of_plan.error());
    choices.Reset();
    found.push_back(measured);
    found.back().choices = *std::move(of_plan);
  }
  return found;
}

StatusOr<std::optional<Outcome>> Store::FindOutcome(const Place& place,
                                                    const std::string& program) const {
  Statement query(db_,
                  "SELECT program, plan, kept, verified, reason, stock_seconds, tuned_seconds, "
                  "speedup, low, high FROM outcomes WHERE program = ? AND machine = ? AND xla = ?");
  query.Bind(program).Bind(place.Machine()).Bind(place.xla);
  const StatusOr<bool> row = query.Next();
  if (!row) return tl::unexpected(row.error());
  if (!*row) return std::optional<Outcome>();
  return Outcome{query.Text(0),   query.Text(1),   query.Whole(2) != 0, query.Text(3),
                 query.Text(4),   query.Number(5), query.Number(6),     query.Number(7),
                 query.Number(8), query.Number(9)};
}

StatusOr<std::string> Store::PlanText(const std::string& plan) const {
  Statement query(db_, "SELECT text FROM plans WHERE plan = ?");
  query.Bind(plan);
  const StatusOr<bool> row = query.Next();
  if (!row) return tl::unexpected(row.error());
  if (!*row) return MakeError(ErrorCode::kInvalidInput, "the store has no plan " + plan);
  return query.Text(0);
}

Status Store::AddAnswer(const ProgramRow& program, const Answer& answer) {
  if (Status added = AddProgram(program, {}); !added) return added;
  Statement row(db_, InsertSql(TableNamed("answers")));
  row.Bind(answer.program).Bind(answer.kind).Bind(answer.machine).Bind(answer.xla);
  row.Bind(answer.question).Bind(MicrosecondsNow()).Bind(answer.cost).Bind(answer.verified);
  return row.Bind(answer.text).Run();
}

StatusOr<std::optional<Answer>> Store::FindAnswer(const Answer& asked) const {
  Statement query(db_,
                  "SELECT cost, verified, text FROM answers WHERE program = ? AND kind = ? AND "
                  "machine = ? AND xla = ? AND question = ?");
  query.Bind(asked.program).Bind(asked.kind).Bind(asked.machine).Bind(asked.xla);
  const StatusOr<bool> row = query.Bind(asked.question).Next();
  if (!row) return tl::unexpected(row.error());
  if (!*row) return std::optional<Answer>();
  Answer found = asked;
  found.cost = query.Number(0);
  found.verified = query.Text(1);
  found.text = query.Text(2);
  return std::optional<Answer>(std::move(found));
}

Status Store::ForgetAnswer(const Answer& answer) {
  Statement row(db_,
                "DELETE FROM answers WHERE program = ? AND kind = ? AND machine = ? AND xla = ? "
                "AND question = ? AND text = ?");
  row.Bind(answer.program).Bind(answer.kind).Bind(answer.machine).Bind(answer.xla);
  return row.Bind(answer.question).Bind(answer.text).Run();
}

StatusOr<std::vector<ListedAnswer>> Store::ListAnswers(const std::string& program_prefix) const {
  Statement query(db_, R"(
    SELECT p.program, p.name, p.file, p.instructions, a.kind, a.machine, a.xla, a.question,
           a.cost, a.verified, a.text
    FROM answers a JOIN programs p ON p.program = a.program
    WHERE substr(p.program, 1, length(?1)) = ?1
    ORDER BY p.file, p.program, a.kind, a.machine, a.xla, a.question)");
  query.Bind(program_prefix);
  return AllRows(query, [&] {
    return ListedAnswer{{query.Text(0), query.Text(1), query.Text(2), query.Whole(3)},
                        {query.Text(0), query.Text(4), query.Text(5), query.Text(6), query.Text(7),
                         query.Number(8), query.Text(9), query.Text(10)}};
  });
}

StatusOr<std::vector<ListedOutcome>> Store::List(const std::string& program_prefix) const {
  Statement query(db_, R"(
    SELECT p.program, p.name, p.file, p.instructions, k.machine, k.xla,
           coalesce(o.plan, ''), coalesce(o.kept, 0), coalesce(o.verified, ''),
           coalesce(o.reason, 'not finished'), coalesce(o.stock_seconds, 0),
           coalesce(o.tuned_seconds, 0), coalesce(o.speedup, 1), coalesce(o.low, 1),
           coalesce(o.high, 1),
           (SELECT count(*) FROM measurements m WHERE m.program = k.program
            AND m.machine = k.machine AND m.xla = k.xla)
    FROM (SELECT program, machine, xla FROM outcomes
          UNION SELECT program, machine, xla FROM measurements) k
    JOIN programs p ON p.program = k.program
    LEFT JOIN outcomes o ON o.program = k.program AND o.machine = k.machine AND o.xla = k.xla
    WHERE substr(p.program, 1, length(?1)) = ?1
    ORDER BY p.file, p.program, k.machine, k.xla)");
  query.Bind(program_prefix);
  return AllRows(query, [&] {
    ListedOutcome one;
    one.program = {query.Text(0), query.Text(1), query.Text(2), query.Whole(3)};
    one.machine = query.Text(4);
    one.xla = query.Text(5);
    one.outcome = {query.Text(0),    query.Text(6),    query.Whole(7) != 0, query.Text(8),
                   query.Text(9),    query.Number(10), query.Number(11),    query.Number(12),
                   query.Number(13), query.Number(14)};
    one.measurements = query.Whole(15);
    return one;
  });
}

StatusOr<int64_t> Store::Prune(double older_than_seconds) {
  Transaction transaction(db_);
  if (!transaction.begun()) return tl::unexpected(transaction.begun().error());
  const double now = static_cast<double>(MicrosecondsNow());
  Statement old(db_, "DELETE FROM measurements WHERE at <= ?");
  const Status pruned = old.Bind(static_cast<int64_t>(now - 1e6 * older_than_seconds)).Run();
  if (!pruned) return tl::unexpected(pruned.error());
  const int64_t gone = sqlite3_changes(db_);
  for (const char* sql : {
           "DELETE FROM plans WHERE plan NOT IN (SELECT plan FROM measurements "
           "UNION SELECT plan FROM outcomes)",
           "DELETE FROM modules WHERE module NOT IN (SELECT module FROM measurements)",
           "DELETE FROM choices WHERE plan NOT IN (SELECT plan FROM plans)",
           "DELETE FROM programs WHERE program NOT IN (SELECT program FROM measurements "
           "UNION SELECT program FROM outcomes UNION SELECT program FROM answers)",
           "DELETE FROM program_sites WHERE program NOT IN (SELECT program FROM programs)",
           "DELETE FROM sites WHERE site NOT IN (SELECT site FROM program_sites)",
       }) {
    if (Status done = Execute(db_, sql); !done) return tl::unexpected(done.error());
  }
  if (Status done = transaction.Commit(); !done) return tl::unexpected(done.error());
  if (Status done = Execute(db_, "VACUUM"); !done) return tl::unexpected(done.error());
  return gone;
}

Place ThisPlace(const std::string& xla, const std::string& hone) {
  Place place{"unknown processor", static_cast<int>(std::thread::hardware_concurrency()), xla,
              hone};
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != line.npos) {
      place.cpu = line.substr(colon + 2);
      break;
    }
  }
  return place;
}

}  // namespace hone::store
