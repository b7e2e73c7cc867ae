#include "store/schema.h"

#include <cstring>

#include "store/sql.h"

namespace hone::store {
namespace {

constexpr char kCreate[] = R"(
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS machines (
  machine TEXT PRIMARY KEY, cpu TEXT NOT NULL, cores INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS programs (
  program TEXT PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL,
  instructions INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sites (
  site TEXT PRIMARY KEY, kind TEXT NOT NULL, stage TEXT NOT NULL, opcode TEXT NOT NULL,
  consumer TEXT NOT NULL, choices TEXT NOT NULL, stock TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS program_sites (
  program TEXT NOT NULL, site TEXT NOT NULL, instruction TEXT NOT NULL, places INTEGER NOT NULL,
  bytes INTEGER NOT NULL, PRIMARY KEY (program, site)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plans (plan TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS choices (
  plan TEXT NOT NULL, stage TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (plan, stage, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS measurements (
  program TEXT NOT NULL, machine TEXT NOT NULL, xla TEXT NOT NULL, hone TEXT NOT NULL,
  plan TEXT NOT NULL, at INTEGER NOT NULL, executable TEXT NOT NULL, stock_seconds REAL NOT NULL,
  tuned_seconds REAL NOT NULL, speedup REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  pairs INTEGER NOT NULL, compile_seconds REAL NOT NULL, error TEXT NOT NULL,
  module TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (program, machine, xla, plan, at)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS modules (module TEXT PRIMARY KEY, graph TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outcomes (
  program TEXT NOT NULL, machine TEXT NOT NULL, xla TEXT NOT NULL, at INTEGER NOT NULL,
  plan TEXT NOT NULL, kept INTEGER NOT NULL, verified TEXT NOT NULL, reason TEXT NOT NULL,
  stock_seconds REAL NOT NULL, tuned_seconds REAL NOT NULL, speedup REAL NOT NULL,
  low REAL NOT NULL, high REAL NOT NULL, PRIMARY KEY (program, machine, xla)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lessons (
  machine TEXT NOT NULL, stage TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  gain REAL NOT NULL, program TEXT NOT NULL, PRIMARY KEY (machine, stage, key)) WITHOUT ROWID;
)";

constexpr char kCreateAnswers[] = R"(
CREATE TABLE IF NOT EXISTS answers (
  program TEXT NOT NULL, kind TEXT NOT NULL, machine TEXT NOT NULL, xla TEXT NOT NULL,
  question TEXT NOT NULL, at INTEGER NOT NULL, cost REAL NOT NULL, verified TEXT NOT NULL,
  text TEXT NOT NULL, PRIMARY KEY (program, kind, machine, xla, question));
)";

// From version 1 to 2.
constexpr char kToVersion2[] = R"(
CREATE TABLE modules (module TEXT PRIMARY KEY, graph TEXT NOT NULL) WITHOUT ROWID;
ALTER TABLE measurements ADD COLUMN module TEXT NOT NULL DEFAULT '';
)";
constexpr char kIsVersion3[] = "UPDATE meta SET value = '3' WHERE name = 'schema_version'";

constexpr char kBetterOutcome[] =
    "DO UPDATE SET at = excluded.at, plan = excluded.plan, kept = excluded.kept, "
    "verified = excluded.verified, reason = excluded.reason, "
    "stock_seconds = excluded.stock_seconds, tuned_seconds = excluded.tuned_seconds, "
    "speedup = excluded.speedup, low = excluded.low, high = excluded.high "
    "WHERE excluded.low >= outcomes.low";
constexpr char kBetterLesson[] =
    "DO UPDATE SET value = excluded.value, gain = excluded.gain, program = excluded.program "
    "WHERE excluded.gain >= lessons.gain";
constexpr char kBetterAnswer[] =
    "DO UPDATE SET at = excluded.at, cost = excluded.cost, verified = excluded.verified, "
    "text = excluded.text WHERE excluded.cost < answers.cost";
constexpr char kLatestProgram[] = "DO UPDATE SET name = excluded.name, file = excluded.file";

StatusOr<int64_t> Count(sqlite3* db, const char* sql) {
  Statement statement(db, sql);
  const StatusOr<bool> row = statement.Next();
  if (!row) return tl::unexpected(row.error());
  return *row ? statement.Whole(0) : 0;
}

}  // namespace

const std::vector<Table>& Tables() {
  static const std::vector<Table> tables = {
      {"machines", {"machine", "cpu", "cores"}, "DO NOTHING"},
      {"programs", {"program", "name", "file", "instructions"}, kLatestProgram},
      {"sites", {"site", "kind", "stage", "opcode", "consumer", "choices", "stock"}, "DO NOTHING"},
      {"program_sites", {"program", "site", "instruction", "places", "bytes"}, "DO NOTHING"},
      {"plans", {"plan", "text"}, "DO NOTHING"},
      {"choices", {"plan", "stage", "key", "value"}, "DO NOTHING"},
      {"modules", {"module", "graph"}, "DO NOTHING"},
      {"measurements",
       {"program", "machine", "xla", "hone", "plan", "at", "executable", "stock_seconds",
        "tuned_seconds", "speedup", "low", "high", "pairs", "compile_seconds", "error", "module"},
       "DO NOTHING"},
      {"outcomes",
       {"program", "machine", "xla", "at", "plan", "kept", "verified", "reason", "stock_seconds",
        "tuned_seconds", "speedup", "low", "high"},
       kBetterOutcome},
      {"lessons", {"machine", "stage", "key", "value", "gain", "program"}, kBetterLesson},
      {"answers",
       {"program", "kind", "machine", "xla", "question", "at", "cost", "verified", "text"},
       kBetterAnswer},
  };
  return tables;
}

const Table& TableNamed(const char* name) {
  for (const Table& table : Tables()) {
    if (std::strcmp(table.name, name) == 0) return table;
  }
  HONE_CHECK(false && "no such table");
  return Tables().front();
}

std::string InsertSql(const Table& table) {
  std::string columns;
  std::string marks;
  for (const char* column : table.columns) {
    columns += columns.empty() ? column : std::string(", ") + column;
    marks += marks.empty() ? "?" : ", ?";
  }
  return std::string("INSERT INTO ") + table.name + " (" + columns + ") VALUES (" + marks +
         ") ON CONFLICT " + table.conflict;
}

Status PrepareSchema(sqlite3* db) {
  Transaction transaction(db);
  if (!transaction.begun()) return transaction.begun();
  const StatusOr<int64_t> meta =
      Count(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'");
  if (!meta) return tl::unexpected(meta.error());
  if (*meta == 0) {
    const StatusOr<int64_t> others = Count(db, "SELECT count(*) FROM sqlite_master");
    if (!others) return tl::unexpected(others.error());
    if (*others != 0) {
      return MakeError(ErrorCode::kInvalidInput,
                       "it is an SQLite file, but not one of hone's; give another name");
    }
    for (const char* sql : {kCreate, kCreateAnswers}) {
      if (Status made = Execute(db, sql); !made) return made;
    }
    Statement version(db, "INSERT INTO meta VALUES ('schema_version', ?)");
    if (Status set = version.Bind(std::to_string(kSchemaVersion)).Run(); !set) return set;
    return transaction.Commit();
  }
  Statement version(db, "SELECT value FROM meta WHERE name = 'schema_version'");
  const StatusOr<bool> row = version.Next();
  if (!row) return tl::unexpected(row.error());
  const std::string found = *row ? version.Text(0) : "none";
  if (found == "1" || found == "2") {
    std::vector<const char*> steps{kCreateAnswers, kIsVersion3};
    if (found == "1") steps.insert(steps.begin(), kToVersion2);
    for (const char* sql : steps) {
      if (Status brought = Execute(db, sql); !brought) return brought;
    }
    return transaction.Commit();
  }
  if (found != std::to_string(kSchemaVersion)) {
    return MakeError(ErrorCode::kInvalidInput,
                     "its schema has version " + found + ", this hone reads " +
                         std::to_string(kSchemaVersion) +
                         "; export it with the hone that wrote it, and import that");
  }
  return {};
}

}  // namespace hone::store
