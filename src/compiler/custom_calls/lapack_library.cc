#include "compiler/custom_calls/lapack_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <optional>

#include "core/lapack.h"

namespace hone::compiler {
namespace {

void* library = nullptr;
bool looked = false;

// An environment variable, set while it lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* const set = std::getenv(name)) before_ = set;
    setenv(name, value, /*overwrite=*/1);
  }
  ~ScopedVariable() {
    if (before_) {
      setenv(name_, before_->c_str(), /*overwrite=*/1);
    } else {
      unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

void* Open(const std::string& name) {
  return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
}

// What OpenBLAS may be told that a processor is which it does not know; null where that is no more
// than it takes any for.
const char* NamedCore() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd")) {
    return "SKYLAKEX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "HASWELL";
#endif
  return nullptr;
}

// OpenBLAS takes a processor that is newer than itself for one of 2004: a matrix of 256 rows and
// more takes one and a half to three times as long then as by the OpenBLAS that JAX has.
void* OpenForThisProcessor(const std::string& name) {
  void* const opened = Open(name);
  if (opened == nullptr) return nullptr;
  constexpr const char* kCore = "OPENBLAS_CORETYPE";
  const auto core = reinterpret_cast<const char* (*)()>(dlsym(opened, "openblas_get_corename"));
  const char* const named = NamedCore();
  if (core == nullptr || std::string(core()) != "Prescott" || named == nullptr ||
      std::getenv(kCore) != nullptr) {
    return opened;
  }
  dlclose(opened);
  const ScopedVariable set(kCore, named);
  return Open(name);
}

}  // namespace

void LoadLapack(const std::vector<std::string>& libraries) {
  if (looked) return;
  looked = true;
  const ScopedVariable threads("OPENBLAS_NUM_THREADS", "1");
  for (const std::string& name : libraries) {
    library = OpenForThisProcessor(name);
    if (library == nullptr) continue;
    // liblapack.so.3 alone shows its BLAS's functions too, for that is what it depends on.
    if (dlsym(library, "dgetrf_") != nullptr && dlsym(library, "dtrsm_") != nullptr) break;
    dlclose(library);
    library = nullptr;
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
