// Object code, loaded into this process and ready to be called.
#ifndef HONE_LOOPS_GENERATOR_LOAD_H_
#define HONE_LOOPS_GENERATOR_LOAD_H_

#include <memory>
#include <string>

#include "core/native_kernel.h"
#include "core/result.h"

namespace hone::loops {

// The processor that code is made for: its name and features, as LLVM calls them.
std::string Processor();

// Machine code in this process.
class Loaded {
 public:
  static StatusOr<std::unique_ptr<Loaded>> Load(const std::string& object);
  ~Loaded();
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  Entry entry() const { return entry_; }

 private:
  struct Linker;
  Loaded();
  std::unique_ptr<Linker> linker_;
  Entry entry_ = nullptr;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_LOAD_H_
