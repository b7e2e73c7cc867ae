// The tables of a store.
#ifndef HONE_STORE_SCHEMA_H_
#define HONE_STORE_SCHEMA_H_

#include <sqlite3.h>

#include <string>
#include <vector>

#include "core/result.h"

namespace hone::store {

// 2: `modules`, and which one a measurement is of. 3: `answers`. Files of earlier versions are
// taken along.
inline constexpr int kSchemaVersion = 3;

struct Table {
  const char* name;
  std::vector<const char*> columns;
  // How to insert a row whose key is there: "DO NOTHING", or "DO UPDATE …" where a better one
  // takes the place of a worse.
  const char* conflict;
};

// Those that export and import know: all but `meta`. What others refer to comes first.
const std::vector<Table>& Tables();

// Makes the tables of an empty file and brings those of an earlier version up to this one; refuses
// a file of a later version, or of something else.
Status PrepareSchema(sqlite3* db);

// "INSERT INTO … VALUES (?, …) ON CONFLICT …"
std::string InsertSql(const Table& table);
const Table& TableNamed(const char* name);

}  // namespace hone::store

#endif  // HONE_STORE_SCHEMA_H_
