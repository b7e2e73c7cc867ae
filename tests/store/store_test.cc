#include "store/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <limits>

#include "temporary_file.h"

namespace hone::store {
namespace {

const Place kHere{"a processor", 2, "xla 1", "hone 1"};

Measurement MakeMeasurement(const std::string& plan, double speedup) {
  Measurement one;
  one.program = "p1";
  one.plan = plan;
  one.executable = "e-" + plan;
  one.stock_seconds = 0.01;
  one.tuned_seconds = 0.01 / speedup;
  one.speedup = speedup;
  one.low = speedup - 0.1;
  one.high = std::numeric_limits<double>::infinity();
  one.pairs = 12;
  return one;
}

PlanRow MakePlan(const std::string& hash) {
  return {hash, "{\"plan\": \"" + hash + "\"}", {{"flags", "xla_some_flag", "true"}}};
}

Outcome MakeOutcome(const std::string& plan, double low) {
  return {"p1", plan, true, "true", "", 0.01, 0.01 / (low + 0.1), low + 0.1, low, low + 0.2};
}

void Fill(Store& store) {
  CompileSite site;
  site.key = 0x1234;
  site.kind = CompileSiteKind::kPartitions;
  site.instruction = "fusion.1";
  site.opcode = "fusion";
  site.bytes = 4096;
  site.choices = {"1", "2"};
  ASSERT_TRUE(store.AddProgram({"p1", "module", "a.hlo", 12}, {site}));
  ASSERT_TRUE(store.AddMeasurements(kHere, {MakeMeasurement("h1", 1.5), MakeMeasurement("h2", 2)},
                                    {MakePlan("h1"), MakePlan("h2")}));
  ASSERT_TRUE(store.AddOutcome(kHere, MakeOutcome("h2", 1.8), MakePlan("h2")));
  ASSERT_TRUE(store.AddLessons(kHere, {{"flags", "xla_some_flag", "true", 0.4, "p1"}}));
}

TEST(StoreTest, GivesBackWhatWasAdded) {
  const TemporaryFile file;
  {
    const auto store = Store::Open(file.path());
    ASSERT_TRUE(store) << store.error().message;
    Fill(**store);
  }
  const auto store = Store::OpenExisting(file.path());
  ASSERT_TRUE(store) << store.error().message;
  const auto measurements = (*store)->Measurements(kHere, "p1");
  ASSERT_TRUE(measurements);
  ASSERT_EQ(measurements->size(), 2u);
  EXPECT_EQ(measurements->at(1).plan, "h2");
  EXPECT_EQ(measurements->at(1).speedup, 2);
  EXPECT_EQ(measurements->at(1).pairs, 12);
  Place elsewhere = kHere;
  elsewhere.cores = 4;
  EXPECT_TRUE((*store)->Measurements(elsewhere, "p1")->empty());
  EXPECT_TRUE((*store)->Lessons(elsewhere)->empty());
  const auto outcome = (*store)->FindOutcome(kHere, "p1");
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_TRUE((*outcome)->kept);
  EXPECT_EQ((*outcome)->plan, "h2");
  EXPECT_FALSE(*(*store)->FindOutcome(kHere, "p2"));
  EXPECT_EQ(*(*store)->PlanText("h1"), "{\"plan\": \"h1\"}");
  EXPECT_FALSE((*store)->PlanText("h9"));
  const auto lessons = (*store)->Lessons(kHere);
  ASSERT_EQ(lessons->size(), 1u);
  EXPECT_EQ(lessons->at(0).value, "true");
  const auto listed = (*store)->List();
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->at(0).measurements, 2);
  EXPECT_EQ(listed->at(0).program.file, "a.hlo");
  EXPECT_TRUE((*store)->List("q")->empty());
}

TEST(StoreTest, KeepsModulesOnceForAllTheirMeasurements) {
  const TemporaryFile file;
  const auto store = Store::Open(file.path());
  Fill(**store);
  Measurement one = MakeMeasurement("h1", 1.5);
  one.module = "g1";
  Measurement other = MakeMeasurement("h3", 1.7);
  other.module = "g1";
  Measurement failed = MakeMeasurement("h4", 1.7);
  failed.module = "g1";
  failed.error = "it does not compile";
  ASSERT_TRUE((*store)->AddMeasurements(kHere, {one}, {MakePlan("h1")}, {{"g1", "a graph"}}));
  ASSERT_TRUE((*store)->AddMeasurements(kHere, {other, failed}, {MakePlan("h3"), MakePlan("h4")},
                                        {{"g1", "a graph"}}));
  const auto modules = (*store)->MeasuredModules(kHere);
  ASSERT_TRUE(modules) << modules.error().message;
  ASSERT_EQ(modules->size(), 2u) << "those without a module or with an error are left out";
  EXPECT_EQ(modules->at(0).graph, "a graph");
  EXPECT_EQ(modules->at(1).measurement.speedup, 1.7);
  EXPECT_EQ(modules->at(1).program_name, "a.hlo");
  ASSERT_EQ(modules->at(1).choices.size(), 1u);
  EXPECT_EQ(modules->at(1).choices[0].key, "xla_some_flag");
  Place elsewhere = kHere;
  elsewhere.cores = 4;
  EXPECT_TRUE((*store)->MeasuredModules(elsewhere)->empty());
  const std::string lines = *(*store)->Export();
  const auto copy = Store::Open(file.path("copy.db"));
  ASSERT_TRUE((*copy)->Import(lines));
  EXPECT_EQ((*copy)->MeasuredModules(kHere)->size(), 2u);
  ASSERT_TRUE((*store)->Prune(0));
  EXPECT_EQ((*store)->Export()->find("a graph"), std::string::npos);
}

TEST(StoreTest, TellsWhatSitesOfMeasuredPlansAreLike) {
  const TemporaryFile file;
  const auto store = Store::Open(file.path());
  CompileSite edge;
  edge.key = 0x12;
  edge.kind = CompileSiteKind::kFusionEdge;
  edge.opcode = "add";
  edge.user = "multiply";
  edge.choices = {"fuse", "keep"};
  CompileSite node = edge;
  node.key = 0x13;
  node.kind = CompileSiteKind::kLayout;
  node.user.clear();
  ASSERT_TRUE((*store)->AddProgram({"p1", "module", "a.hlo", 12}, {edge, node}));
  PlanRow plan{"h1",
               "{}",
               {{"flags", "xla_some_flag", "true"},
                {"fusion", "0000000000000012", "keep"},
                {"layout", "0000000000000013", "0,1"},
                {"tiles", "0000000000000014", "4"}}};
  Measurement failed = MakeMeasurement("h2", 2);
  failed.error = "it does not compile";
  ASSERT_TRUE((*store)->AddMeasurements(kHere, {MakeMeasurement("h1", 1.5), failed},
                                        {plan, MakePlan("h2")}));
  const auto plans = (*store)->MeasuredPlans();
  ASSERT_TRUE(plans) << plans.error().message;
  ASSERT_EQ(plans->size(), 1u);
  EXPECT_EQ(plans->at(0).program, "p1");
  EXPECT_EQ(plans->at(0).speedup, 1.5);
  std::vector<std::string> alike;
  for (const AlikeChoice& one : plans->at(0).choices) alike.push_back(one.like);
  EXPECT_EQ(alike, (std::vector<std::string>{"xla_some_flag", "fusion_edge add multiply",
                                             "layout add", ""}));
  EXPECT_EQ(plans->at(0).choices[1].choice.value, "keep");
}

// What version 1 made, as far as a program, a plan and a measurement need it.
constexpr char kVersion1[] = R"(
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('schema_version', '1');
CREATE TABLE machines (
  machine TEXT PRIMARY KEY, cpu TEXT NOT NULL, cores INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE programs (
  program TEXT PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL,
  instructions INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE plans (plan TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE choices (
  plan TEXT NOT NULL, stage TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (plan, stage, key)) WITHOUT ROWID;
CREATE TABLE measurements (
  program TEXT NOT NULL, machine TEXT NOT NULL, xla TEXT NOT NULL, hone TEXT NOT NULL,
  plan TEXT NOT NULL, at INTEGER NOT NULL, executable TEXT NOT NULL, stock_seconds REAL NOT NULL,
  tuned_seconds REAL NOT NULL, speedup REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  pairs INTEGER NOT NULL, compile_seconds REAL NOT NULL, error TEXT NOT NULL,
  PRIMARY KEY (program, machine, xla, plan, at)) WITHOUT ROWID;
INSERT INTO measurements VALUES ('p1', 'a processor x2', 'xla 1', 'hone 1', 'h1', 1, 'e', 0.1, 0.05,
                                 2, 1.9, 2.1, 12, 0.5, '');
)";

void Do(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

TEST(StoreTest, AFileOfVersion1IsBroughtUpToDate) {
  const TemporaryFile file;
  Do(file.path(), kVersion1);
  for (int again = 0; again < 2; ++again) {
    const auto store = Store::Open(file.path());
    ASSERT_TRUE(store) << store.error().message;
    const auto known = (*store)->Measurements(kHere, "p1");
    ASSERT_TRUE(known) << known.error().message;
    ASSERT_EQ(known->size(), 1u);
    EXPECT_EQ(known->at(0).speedup, 2);
    EXPECT_EQ(known->at(0).module, "");
    const auto modules = (*store)->MeasuredModules(kHere);
    ASSERT_TRUE(modules) << modules.error().message;
    EXPECT_TRUE(modules->empty());
    EXPECT_TRUE((*store)->AddAnswer({"p1", "module", "a.hlo", 12}, {"p1", "order"}));
  }
  Do(file.path(), "UPDATE meta SET value = '99' WHERE name = 'schema_version'");
  EXPECT_FALSE(Store::Open(file.path()));
}

TEST(StoreTest, LinesOfVersion1CanBeImported) {
  const TemporaryFile file;
  const auto store = Store::Open(file.path());
  Fill(**store);
  std::string lines = *(*store)->Export();
  for (size_t at; (at = lines.find(",\"module\":\"\"")) != lines.npos;) lines.erase(at, 12);
  const auto other = Store::Open(file.path("other.db"));
  const auto rows = (*other)->Import(lines);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ((*other)->Measurements(kHere, "p1")->size(), 2u);
}

TEST(StoreTest, WorseOutcomesAndLessonsDoNotReplaceBetterOnes) {
  const TemporaryFile file;
  const auto store = Store::Open(file.path());
  Fill(**store);
  ASSERT_TRUE((*store)->AddOutcome(kHere, MakeOutcome("h1", 1.2), MakePlan("h1")));
  EXPECT_EQ((**(*store)->FindOutcome(kHere, "p1")).plan, "h2");
  ASSERT_TRUE((*store)->AddOutcome(kHere, MakeOutcome("h1", 2.5), MakePlan("h1")));
  EXPECT_EQ((**(*store)->FindOutcome(kHere, "p1")).plan, "h1");
  ASSERT_TRUE((*store)->AddLessons(kHere, {{"flags", "xla_some_flag", "false", 0.1, "p2"}}));
  EXPECT_EQ((*store)->Lessons(kHere)->at(0).value, "true");
  ASSERT_TRUE((*store)->AddLessons(kHere, {{"flags", "xla_some_flag", "false", 0.9, "p2"}}));
  EXPECT_EQ((*store)->Lessons(kHere)->at(0).value, "false");
}

TEST(StoreTest, ExportsAndImports) {
  const TemporaryFile file;
  const auto store = Store::Open(file.path());
  Fill(**store);
  const auto lines = (*store)->Export();
  ASSERT_TRUE(lines);
  const auto other = Store::Open(file.path("other.db"));
  const auto rows = (*other)->Import(*lines);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(*rows, std::count(lines->begin(), lines->end(), '\n'));
  EXPECT_EQ(*(*other)->Export(), *lines);
  EXPECT_EQ(*(*other)->Import(*lines), *rows);
  EXPECT_EQ(*(*other)->Export(), *lines) << "importing twice changed something";
}

TEST(StoreTest, AWrongLineImportsNothing) {
  const TemporaryFile file;
  const auto store = Store::Open(file.path());
  const std::string good =
      "{\"table\": \"machines\", \"machine\": \"m\", \"cpu\": \"c\", \"cores\": 2}\n";
  for (const char* wrong :
       {"what", "[]", "{}", "{\"table\": 3}", "{\"table\": \"no\"}", "{\"table\": \"plans\"}",
        "{\"table\": \"machines\", \"machine\": \"n\", \"cpu\": \"c\", \"cores\": \"x\"}"}) {
    const auto imported = (*store)->Import(good + wrong + "\n");
    ASSERT_FALSE(imported) << wrong;
    EXPECT_EQ(imported.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(imported.error().message.find("line 2"), std::string::npos)
        << imported.error().message;
    EXPECT_EQ(*(*store)->Export(), "") << wrong;
  }
}

TEST(StoreTest, PrunesMeasurementsAndWhatOnlyTheyNeeded) {
  const TemporaryFile file;
  const auto store = Store::Open(file.path());
  Fill(**store);
  EXPECT_EQ(*(*store)->Prune(3600), 0);
  EXPECT_EQ(*(*store)->Prune(0), 2);
  EXPECT_FALSE((*store)->PlanText("h1"));
  EXPECT_TRUE((*store)->PlanText("h2")) << "the outcome needs it";
  EXPECT_EQ((*store)->Lessons(kHere)->size(), 1u);
}

Answer MakeAnswer(const std::string& kind, double cost) {
  return {"p1", kind, "a processor x2", "xla 1", "op_count simplify", cost, "true", "a recipe"};
}

TEST(StoreTest, KeepsTheBestAnswerToEachQuestion) {
  const TemporaryFile file;
  const auto store = Store::Open(file.path());
  const ProgramRow program{"p1", "module", "a.hlo", 12};
  ASSERT_TRUE((*store)->AddAnswer(program, MakeAnswer("order", 10)));
  ASSERT_TRUE((*store)->AddAnswer(program, MakeAnswer("memory", 1)));
  Answer worse = MakeAnswer("order", 11);
  worse.text = "a worse one";
  ASSERT_TRUE((*store)->AddAnswer(program, worse));
  const auto found = (*store)->FindAnswer(MakeAnswer("order", 0));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->cost, 10);
  EXPECT_EQ((*found)->text, "a recipe");
  for (const auto change :
       {&Answer::program, &Answer::kind, &Answer::machine, &Answer::xla, &Answer::question}) {
    Answer other = MakeAnswer("order", 0);
    other.*change = "another";
    EXPECT_FALSE(*(*store)->FindAnswer(other));
  }
  ASSERT_TRUE((*store)->ForgetAnswer(worse)) << "which is not there";
  EXPECT_TRUE(*(*store)->FindAnswer(worse));
  ASSERT_TRUE((*store)->ForgetAnswer(**found));
  ASSERT_TRUE((*store)->AddAnswer(program, worse));
  EXPECT_EQ((**(*store)->FindAnswer(worse)).cost, 11);
  ASSERT_EQ((*store)->ListAnswers("p")->size(), 2u);
  EXPECT_EQ((*store)->ListAnswers()->at(0).program.file, "a.hlo");
  EXPECT_TRUE((*store)->ListAnswers("q")->empty());
}

TEST(StoreTest, AnswersAreExportedAndOutliveMeasurements) {
  const TemporaryFile file;
  const auto store = Store::Open(file.path());
  ASSERT_TRUE((*store)->AddAnswer({"p1", "module", "a.hlo", 12}, MakeAnswer("order", 10.5)));
  EXPECT_EQ(*(*store)->Prune(0), 0);
  const auto other = Store::Open(file.path("other.db"));
  ASSERT_TRUE((*other)->AddAnswer({"p1", "module", "a.hlo", 12}, MakeAnswer("order", 12)));
  const auto rows = (*other)->Import(*(*store)->Export());
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ((**(*other)->FindAnswer(MakeAnswer("order", 0))).cost, 10.5);
  ASSERT_TRUE((*store)->Import(*(*other)->Export()));
  EXPECT_EQ((*store)->ListAnswers()->size(), 1u);
}

TEST(StoreTest, RefusesWhatIsNoStore) {
  const TemporaryFile file;
  std::ofstream(file.path("text")) << "this is not a database, though it is long enough to be one";
  const auto text = Store::Open(file.path("text"));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kInvalidInput);
  EXPECT_FALSE(Store::OpenExisting(file.path("missing")));
  EXPECT_FALSE(std::filesystem::exists(file.path("missing")));
  EXPECT_FALSE(Store::Open(file.path("no/such/folder.db")));
}

}  // namespace
}  // namespace hone::store
