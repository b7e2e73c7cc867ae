// What tuning, searches for orders of passes and memory planning have found out, in an SQLite file:
// for resuming, for other programs, and to learn from.
//
// Each Add is a transaction of its own: whole or not there, whatever kills the process. Several
// processes may write at once; they wait for each other for up to ten seconds.
#ifndef HONE_STORE_STORE_H_
#define HONE_STORE_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compile_plan.h"
#include "core/result.h"
#include "store/rows.h"

struct sqlite3;

namespace hone::store {

class Store {
 public:
  // Makes the file where there is none. Errors: a file that is no store, or of another version.
  static StatusOr<std::unique_ptr<Store>> Open(const std::string& path);
  // The same, of a file that must be there.
  static StatusOr<std::unique_ptr<Store>> OpenExisting(const std::string& path);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // A program and the places where its compilation decides.
  Status AddProgram(const ProgramRow& program, const std::vector<CompileSite>& sites);
  Status AddMeasurements(const Place& place, const std::vector<Measurement>& measurements,
                         const std::vector<PlanRow>& plans,
                         const std::vector<ModuleRow>& modules = {});
  // A kept one whose interval begins higher stays.
  Status AddOutcome(const Place& place, const Outcome& outcome, const PlanRow& plan);
  // A lesson of a greater gain stays.
  Status AddLessons(const Place& place, const std::vector<Lesson>& lessons);

  // On this machine, whatever the versions: a key of another version is mostly met no more.
  StatusOr<std::vector<Lesson>> Lessons(const Place& place) const;
  // Newest last; those of one program, measured there with that XLA.
  StatusOr<std::vector<Measurement>> Measurements(const Place& place,
                                                  const std::string& program) const;
  // Those on this machine whose module is known, whatever the versions; by program, oldest first.
  StatusOr<std::vector<MeasuredModule>> MeasuredModules(const Place& place) const;
  // Those that ran, on whatever machine; by program, oldest first.
  StatusOr<std::vector<MeasuredPlan>> MeasuredPlans() const;
  StatusOr<std::optional<Outcome>> FindOutcome(const Place& place,
                                               const std::string& program) const;
  StatusOr<std::string> PlanText(const std::string& plan) const;

  // A better one to the same question stays. Adds the program.
  Status AddAnswer(const ProgramRow& program, const Answer& answer);
  // To the question that `asked` is: its program, kind, machine, XLA and question.
  StatusOr<std::optional<Answer>> FindAnswer(const Answer& asked) const;
  // One that did not stand, if it is still there.
  Status ForgetAnswer(const Answer& answer);
  // The answers of programs whose fingerprint begins so.
  StatusOr<std::vector<ListedAnswer>> ListAnswers(const std::string& program_prefix = "") const;

  // All outcomes, and programs that have measurements only; programs whose fingerprint begins so.
  StatusOr<std::vector<ListedOutcome>> List(const std::string& program_prefix = "") const;

  // A line of JSON for each row: {"table": "…", column: value, …}.
  StatusOr<std::string> Export() const;
  // Adds the rows that are not there; better outcomes and lessons take the place of worse. All or,
  // where a line is wrong, nothing. Returns the number of lines.
  StatusOr<int64_t> Import(std::string_view lines);
  // Forgets measurements older than that, and plans and sites that nothing refers to any more.
  // Outcomes, lessons and answers stay. Returns the number of measurements.
  StatusOr<int64_t> Prune(double older_than_seconds);

 private:
  explicit Store(sqlite3* db) : db_(db) {}
  sqlite3* const db_;
};

// This machine, with these versions.
Place ThisPlace(const std::string& xla, const std::string& hone);

}  // namespace hone::store

#endif  // HONE_STORE_STORE_H_
