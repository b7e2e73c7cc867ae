#include "store/sql.h"

namespace hone::store {

tl::unexpected<Error> SqlError(sqlite3* db, const std::string& doing) {
  const int code = sqlite3_errcode(db);
  const bool users = code == SQLITE_NOTADB || code == SQLITE_CANTOPEN || code == SQLITE_CORRUPT ||
                     code == SQLITE_READONLY || code == SQLITE_BUSY || code == SQLITE_FULL;
  return MakeError(users ? ErrorCode::kInvalidInput : ErrorCode::kInternal,
                   "the store cannot be used: " + doing + ": " + sqlite3_errmsg(db));
}

Status Execute(sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return SqlError(db, sql);
  return {};
}

Statement::Statement(sqlite3* db, const std::string& sql) : db_(db) {
  error_ = sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(sql.size()), &statement_, nullptr);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::Bind(std::string_view text) {
  const int code = sqlite3_bind_text(statement_, next_++, text.data(),
                                     static_cast<int>(text.size()), SQLITE_TRANSIENT);
  if (error_ == SQLITE_OK) error_ = code;
  return *this;
}

Statement& Statement::Bind(double number) {
  const int code = sqlite3_bind_double(statement_, next_++, number);
  if (error_ == SQLITE_OK) error_ = code;
  return *this;
}

Statement& Statement::Bind(int64_t number) {
  const int code = sqlite3_bind_int64(statement_, next_++, number);
  if (error_ == SQLITE_OK) error_ = code;
  return *this;
}

StatusOr<bool> Statement::Next() {
  if (error_ != SQLITE_OK) return SqlError(db_, "preparing a statement");
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return SqlError(db_, "reading or writing");
}

Status Statement::Run() {
  const StatusOr<bool> row = Next();
  Reset();
  if (!row) return tl::unexpected(row.error());
  return {};
}

std::string Statement::Text(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return "";
  return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}

}  // namespace hone::store
