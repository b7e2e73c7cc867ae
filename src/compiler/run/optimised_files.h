// What XLA:CPU's passes made of programs, in files that processes share: of a program that any of
// them has compiled passes are not run again.
//
// A record holds the module as XLA writes it, compressed. It is found by the program to the byte,
// the plan, all that XLA is told beside it but how well LLVM is to optimise, which no pass asks,
// the number of processors, and who made it (MakersOfKernels). Kept is only what code was made of,
// and what is the same when it is read back.
#ifndef HONE_COMPILER_RUN_OPTIMISED_FILES_H_
#define HONE_COMPILER_RUN_OPTIMISED_FILES_H_

#include <memory>
#include <string>

#include "compiler/sites/before_code.h"
#include "compiler/sites/compile_decider.h"
#include "core/fingerprint.h"

namespace hone::compiler {

// Of one compilation. `program` is its PassesKey; `decider`, if any, has its counts recalled. It
// finds nothing where no folder is shared.
class OptimisedElsewhere : public PassesElsewhere {
 public:
  OptimisedElsewhere(const Fingerprint& program, CompileDecider* decider)
      : program_(program), decider_(decider) {}

  void Begin(const xla::HloModule& module) override;
  std::unique_ptr<xla::HloModule> Find() override;
  void Add(const xla::HloModule& made) override;

 private:
  const Fingerprint program_;
  CompileDecider* const decider_;
  Fingerprint key_;
  xla::HloModuleConfig config_;  // of the module that it is about
  std::string config_bytes_;
};

// While it lives, and is so, this thread finds nothing.
class PassesAnew {
 public:
  explicit PassesAnew(bool anew);
  ~PassesAnew();
  PassesAnew(const PassesAnew&) = delete;
  PassesAnew& operator=(const PassesAnew&) = delete;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_OPTIMISED_FILES_H_
