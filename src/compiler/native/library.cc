#include "compiler/native/library.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compiler/native/handler.h"
#include "compiler/native/kernels.h"
#include "core/native_kernel.h"
#include "core/processor.h"

namespace hone::native {
namespace {

constexpr size_t kMostBuffers = 64;

tl::unexpected<Error> Bad(std::string what) {
  return MakeError(ErrorCode::kInvalidInput, std::move(what));
}

struct Row {
  std::string name;
  size_t object = 0;  // bytes
  std::vector<int64_t> bytes;
};

}  // namespace

Status AddKernelsOf(std::string_view file) {
  const auto broken = [] { return Bad("this is no file of hone's kernels, or not all of it"); };
  std::vector<Row> rows;
  bool begun = false;
  while (true) {
    const size_t end = file.find('\n');
    if (end == file.npos) return broken();
    std::istringstream words{std::string(file.substr(0, end))};
    file.remove_prefix(end + 1);
    std::string word;
    words >> word;
    if (!begun) {
      if (words.str() != loops::kKernelFile) return broken();
      begun = true;
    } else if (word == "processor") {
      const std::string made_for = words.str().substr(std::min<size_t>(10, words.str().size()));
      if (made_for != ProcessorName()) {
        return Bad("its kernels were made for another processor (" + made_for + "; here is " +
                   ProcessorName() + "): have hone write the program anew on this machine");
      }
    } else if (word == "kernel") {
      Row row;
      words >> row.name >> row.object;
      for (int64_t bytes; words >> bytes;) row.bytes.push_back(bytes);
      if (row.name.empty() || row.bytes.empty() || row.bytes.size() > kMostBuffers) return broken();
      rows.push_back(std::move(row));
    } else if (word == "objects") {
      break;
    } else {
      return broken();
    }
  }
  for (Row& row : rows) {
    if (row.object > file.size()) return broken();
    if (Status added = AddKernel(row.name, file.substr(0, row.object), std::move(row.bytes));
        !added) {
      return added;
    }
    file.remove_prefix(row.object);
  }
  return {};
}

}  // namespace hone::native

XLA_FFI_Error* hone_loops(XLA_FFI_CallFrame* frame) { return hone::native::RunKernel(frame); }

int hone_kernels_add(const char* file, size_t bytes, char* message, size_t room) {
  const hone::Status added = hone::native::AddKernelsOf({file, bytes});
  if (added) return 0;
  if (room == 0) return 1;
  const std::string& said = added.error().message;
  const size_t length = std::min(said.size(), room - 1);
  std::memcpy(message, said.data(), length);
  message[length] = 0;
  return 1;
}
