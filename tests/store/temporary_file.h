// A path in a folder of its own, removed with all that is in it.
#ifndef HONE_TESTS_STORE_TEMPORARY_FILE_H_
#define HONE_TESTS_STORE_TEMPORARY_FILE_H_

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace hone::store {

class TemporaryFile {
 public:
  TemporaryFile() {
    std::string folder = (std::filesystem::temp_directory_path() / "hone-store-XXXXXX").string();
    folder_ = mkdtemp(folder.data());
  }
  ~TemporaryFile() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path(const std::string& name = "tuned.db") const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

}  // namespace hone::store

#endif  // HONE_TESTS_STORE_TEMPORARY_FILE_H_
