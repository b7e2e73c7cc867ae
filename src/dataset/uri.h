// Programs by name: a program's URI is DATASET/FILE, FILE relative to the data set's folder and
// without the extension: models/gpt2/hf_train_l4_d256_adamw.
#ifndef HONE_DATASET_URI_H_
#define HONE_DATASET_URI_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::dataset {

// The data set that hone brings along.
inline constexpr const char* kShippedName = "models";

struct Dataset {
  std::string name;
  std::string folder;
};

// The folder of the shipped data set, by where the hone executable is: in the tree it was built in,
// or where it is installed. "" where there is none.
std::string ShippedFolder(const std::string& executable);

// A folder's last name: what its data set is called.
StatusOr<Dataset> DatasetOf(const std::string& folder);

// The data sets of the folders given, and the shipped one, unless a folder of the same name stands
// in for it. Two folders of one name are an error.
StatusOr<std::vector<Dataset>> KnownDatasets(const std::vector<std::string>& folders,
                                             const std::string& executable);

// `file` as in an index.
std::string UriOf(const Dataset& dataset, std::string_view file);

// Could the text be meant as a URI? Its first part is a data set's name, or, with more parts behind
// it, nearly one.
bool LooksLikeUri(const std::vector<Dataset>& datasets, std::string_view text);

// The path of a program, or of a folder of programs ("models", "models/gpt2"). A URI with the
// extension still on it is understood. The error says what is nearest.
StatusOr<std::string> Resolve(const std::vector<Dataset>& datasets, std::string_view uri);

}  // namespace hone::dataset

#endif  // HONE_DATASET_URI_H_
