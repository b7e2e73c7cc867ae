#include "compiler/native/kernels.h"

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "compiler/native/code.h"

namespace hone::native {
namespace {

struct Held {
  std::unique_ptr<Code> code;
  Kernel kernel;
};

struct Known {
  std::shared_mutex mutex;
  std::map<std::string, Held, std::less<>> kernels;
};

Known& All() {
  static auto* const known = new Known;
  return *known;
}

}  // namespace

Status AddKernel(const std::string& name, std::string_view object, std::vector<int64_t> bytes) {
  if (FindKernel(name) != nullptr) return {};
  StatusOr<std::unique_ptr<Code>> code = Code::Load(object);
  if (!code) return tl::unexpected(code.error());
  Known& known = All();
  const std::unique_lock lock(known.mutex);
  const loops::Entry entry = (*code)->entry();
  known.kernels.emplace(name, Held{*std::move(code), {entry, std::move(bytes)}});
  return {};
}

const Kernel* FindKernel(std::string_view name) {
  Known& known = All();
  const std::shared_lock lock(known.mutex);
  const auto found = known.kernels.find(name);
  return found == known.kernels.end() ? nullptr : &found->second.kernel;
}

}  // namespace hone::native
