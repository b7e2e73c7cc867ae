// A data set's programs, each with its URI, its file and what is known of it.
#ifndef HONE_DATASET_LOAD_H_
#define HONE_DATASET_LOAD_H_

#include <string>
#include <vector>

#include "core/result.h"
#include "dataset/index.h"
#include "dataset/uri.h"

namespace hone::dataset {

struct Program {
  std::string uri;
  std::string path;
  Row row;
};

// In the order of the folder's index.tsv, whose errors are returned. The files need not exist.
StatusOr<std::vector<Program>> IndexedPrograms(const Dataset& dataset);

// Every program in the folder, sorted, with family and phase guessed from its name.
StatusOr<std::vector<Program>> FoundPrograms(const Dataset& dataset);

}  // namespace hone::dataset

#endif  // HONE_DATASET_LOAD_H_
