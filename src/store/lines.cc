// A store as lines of JSON, and back.
#include "core/lines.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "store/schema.h"
#include "store/sql.h"
#include "store/store.h"

namespace hone::store {
namespace {

using Json = nlohmann::ordered_json;

Json Value(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    default:
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                         static_cast<size_t>(sqlite3_column_bytes(statement, column)));
  }
}

tl::unexpected<Error> Bad(int64_t line, const std::string& what) {
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("line {}: {}; nothing was imported; give a file that `hone store "
                               "export` wrote",
                               line, what));
}

// The types that the columns have in the schema.
bool IsText(std::string_view column) {
  static const std::set<std::string_view> numbers = {
      "cores",         "instructions",    "places",  "bytes", "at",
      "stock_seconds", "tuned_seconds",   "speedup", "low",   "high",
      "pairs",         "compile_seconds", "kept",    "gain",  "cost"};
  return numbers.count(column) == 0;
}

Status Insert(sqlite3* db, const Table& table, const Json& row, int64_t line) {
  Statement insert(db, InsertSql(table));
  for (const char* column : table.columns) {
    const auto value = row.find(column);
    if (value == row.end() && std::string_view(column) == "module" &&
        std::string_view(table.name) == "measurements") {
      insert.Bind(std::string_view(""));  // lines of version 1 do not have it
      continue;
    }
    const bool fine =
        value != row.end() && (IsText(column) ? value->is_string() : value->is_number());
    if (!fine) {
      return Bad(line, fmt::format("'{}' of a row of '{}' is missing or not a {}", column,
                                   table.name, IsText(column) ? "text" : "number"));
    }
    if (value->is_string()) {
      insert.Bind(std::string_view(value->get_ref<const std::string&>()));
    } else if (value->is_number_integer()) {
      insert.Bind(value->get<int64_t>());
    } else {
      insert.Bind(value->get<double>());
    }
  }
  return insert.Run();
}

}  // namespace

StatusOr<std::string> Store::Export() const {
  // One picture, whatever others write meanwhile.
  if (Status begun = Execute(db_, "BEGIN"); !begun) return tl::unexpected(begun.error());
  std::string text;
  Status status;
  for (const Table& table : Tables()) {
    std::string columns;
    for (const char* column : table.columns) {
      columns += columns.empty() ? column : std::string(", ") + column;
    }
    Statement query(db_, "SELECT " + columns + " FROM " + table.name);
    status = ForEachRow(query, [&] {
      Json json{{"table", table.name}};
      for (size_t i = 0; i < table.columns.size(); ++i) {
        json[table.columns[i]] = Value(query.get(), static_cast<int>(i));
      }
      text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    });
    if (!status) break;
  }
  (void)Execute(db_, "COMMIT");
  if (!status) return tl::unexpected(status.error());
  return text;
}

StatusOr<int64_t> Store::Import(std::string_view lines) {
  Transaction transaction(db_);
  if (!transaction.begun()) return tl::unexpected(transaction.begun().error());
  int64_t number = 0;
  int64_t rows = 0;
  while (!lines.empty()) {
    const std::string_view line = TakeLine(lines);
    ++number;
    if (line.empty()) continue;
    const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto name = row.is_object() ? row.find("table") : row.end();
    if (!row.is_object() || name == row.end() || !name->is_string()) {
      return Bad(number, "it is not an object of JSON with a field 'table'");
    }
    const Table* table = nullptr;
    for (const Table& known : Tables()) {
      if (known.name == name->get_ref<const std::string&>()) table = &known;
    }
    if (table == nullptr) return Bad(number, "there is no such table");
    if (Status added = Insert(db_, *table, row, number); !added) {
      return tl::unexpected(added.error());
    }
    ++rows;
  }
  if (Status done = transaction.Commit(); !done) return tl::unexpected(done.error());
  return rows;
}

}  // namespace hone::store
