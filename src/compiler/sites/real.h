// XLA's own function behind one of ours of the same mangled name.
#ifndef HONE_COMPILER_SITES_REAL_H_
#define HONE_COMPILER_SITES_REAL_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace hone::compiler {

template <class Function>
Function Real(const char* symbol) {
  void* const found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) {
    std::fprintf(stderr, "hone-worker: this XLA has no %s\n", symbol);
    std::abort();
  }
  return reinterpret_cast<Function>(found);
}

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_REAL_H_
