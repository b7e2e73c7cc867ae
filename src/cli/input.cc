#include "cli/input.h"

namespace hone::cli {

void AddDatasetsOption(CLI::App& app, std::vector<std::string>& folders) {
  app.add_option("--datasets", folders,
                 "also a data set, whose programs are named LAST-OF-FOLDER/FILE; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
}

}  // namespace hone::cli
