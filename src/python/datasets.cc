// Data sets of programs for hone.datasets: the rules of src/dataset, as the command has them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "convert.h"
#include "dataset/index.h"
#include "dataset/load.h"

namespace hone::python {
namespace {

struct TextColumn {
  const char* name;
  std::string dataset::Row::*member;
};

// All but "instructions", which is a number.
constexpr TextColumn kTextColumns[] = {
    {"file", &dataset::Row::file},     {"family", &dataset::Row::family},
    {"phase", &dataset::Row::phase},   {"config", &dataset::Row::config},
    {"origin", &dataset::Row::origin}, {"licence", &dataset::Row::licence},
    {"group", &dataset::Row::group},   {"fingerprint", &dataset::Row::fingerprint},
    {"split", &dataset::Row::split}};

nb::dict ToDict(const dataset::Program& program) {
  nb::dict dict;
  dict["uri"] = program.uri;
  dict["path"] = program.path;
  for (const TextColumn& column : kTextColumns) dict[column.name] = program.row.*column.member;
  dict["instructions"] =
      program.row.instructions < 0 ? nb::none() : nb::object(nb::int_(program.row.instructions));
  return dict;
}

// Columns that are not ours are left out.
dataset::Row ToRow(const nb::dict& dict) {
  dataset::Row row;
  for (const TextColumn& column : kTextColumns) {
    if (dict.contains(column.name)) {
      row.*column.member = nb::cast<std::string>(dict[column.name]);
    }
  }
  if (dict.contains("instructions") && !dict["instructions"].is_none()) {
    row.instructions = nb::cast<int64_t>(dict["instructions"]);
  }
  return row;
}

nb::list LoadDataset(const std::string& folder, const std::string& name) {
  const dataset::Dataset dataset{name, folder};
  const bool indexed = std::filesystem::exists(dataset::IndexPath(folder));
  const std::vector<dataset::Program> programs =
      OrThrow(indexed ? dataset::IndexedPrograms(dataset) : dataset::FoundPrograms(dataset));
  nb::list list;
  for (const dataset::Program& program : programs) list.append(ToDict(program));
  return list;
}

// What is written can be read: the rules for rows are those for lines of a file.
std::string FormatIndex(const std::vector<nb::dict>& rows) {
  dataset::Index index;
  for (const nb::dict& row : rows) index.rows.push_back(ToRow(row));
  std::string text = dataset::FormatIndex(index);
  OrThrow(dataset::ParseIndex(text));
  return text;
}

}  // namespace

void BindDatasets(nb::module_& module) {
  module.def("load_dataset", &LoadDataset, nb::arg("folder"), nb::arg("name"),
             "The programs of a folder as dictionaries: uri, path, and the columns of index.tsv.");
  module.def("format_index", &FormatIndex, nb::arg("rows"),
             "The text of an index.tsv with these rows, dictionaries by column.");
}

}  // namespace hone::python
