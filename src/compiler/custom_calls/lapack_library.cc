#include "compiler/custom_calls/lapack_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <optional>

#include "core/lapack.h"

namespace hone::compiler {
namespace {

void* library = nullptr;
bool looked = false;

}  // namespace

void LoadLapack(const std::vector<std::string>& libraries) {
  if (looked) return;
  looked = true;
  constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
  const char* const set = std::getenv(kThreads);
  std::optional<std::string> before;
  if (set != nullptr) before = set;
  setenv(kThreads, "1", /*overwrite=*/1);
  for (const std::string& name : libraries) {
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) continue;
    // liblapack.so.3 alone shows its BLAS's functions too, for that is what it depends on.
    if (dlsym(library, "dgetrf_") != nullptr && dlsym(library, "dtrsm_") != nullptr) break;
    dlclose(library);
    library = nullptr;
  }
  if (before) {
    setenv(kThreads, before->c_str(), /*overwrite=*/1);
  } else {
    unsetenv(kThreads);
  }
}

bool HasLapack() { return library != nullptr; }

std::string HowToGetLapack() {
  return std::string("this machine has no LAPACK: install the package ") + kLapackPackage;
}

void* LapackFunction(const std::string& name) {
  return library == nullptr ? nullptr : dlsym(library, name.c_str());
}

}  // namespace hone::compiler
