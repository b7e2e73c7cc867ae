// SQLite with errors as values and resources owned.
#ifndef HONE_STORE_SQL_H_
#define HONE_STORE_SQL_H_

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hone::store {

// An error with what SQLite says of it.
tl::unexpected<Error> SqlError(sqlite3* db, const std::string& doing);

Status Execute(sqlite3* db, const char* sql);

// A prepared statement. The first thing that goes wrong is kept and told by Next or Run.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // The next parameter, from the first.
  Statement& Bind(std::string_view text);
  Statement& Bind(double number);
  Statement& Bind(int64_t number);

  // True where there is a row.
  StatusOr<bool> Next();
  // After the last row, for another round with other parameters.
  void Reset() {
    sqlite3_reset(statement_);
    next_ = 1;
  }
  // For what gives no rows. Parameters can be bound anew then.
  Status Run();

  std::string Text(int column) const;
  double Number(int column) const { return sqlite3_column_double(statement_, column); }
  int64_t Whole(int column) const { return sqlite3_column_int64(statement_, column); }
  sqlite3_stmt* get() const { return statement_; }

 private:
  sqlite3* const db_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
  int error_ = SQLITE_OK;
};

// Once for each row that there still is.
template <class Each>
Status ForEachRow(Statement& query, Each each) {
  for (;;) {
    const StatusOr<bool> row = query.Next();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    each();
  }
}

// The rows, each as `read` makes it of the query.
template <class Read>
auto AllRows(Statement& query, Read read) -> StatusOr<std::vector<decltype(read())>> {
  std::vector<decltype(read())> rows;
  const Status done = ForEachRow(query, [&] { rows.push_back(read()); });
  if (!done) return tl::unexpected(done.error());
  return rows;
}

// All or nothing; waits for another writer. Rolled back where it is not committed.
class Transaction {
 public:
  explicit Transaction(sqlite3* db) : db_(db), begun_(Execute(db, "BEGIN IMMEDIATE")) {}
  ~Transaction() {
    if (begun_ && open_) (void)Execute(db_, "ROLLBACK");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  const Status& begun() const { return begun_; }
  Status Commit() {
    const Status committed = Execute(db_, "COMMIT");
    open_ = !committed;
    return committed;
  }

 private:
  sqlite3* const db_;
  const Status begun_;
  bool open_ = true;
};

}  // namespace hone::store

#endif  // HONE_STORE_SQL_H_
