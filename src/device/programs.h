// Programs and inputs for a device, as a worker makes them.
#ifndef HONE_DEVICE_PROGRAMS_H_
#define HONE_DEVICE_PROGRAMS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/program_graph.h"
#include "device/compare.h"
#include "device/remote_device.h"
#include "wire/pool.h"

namespace hone::device {

// A program's parameters as a device takes them.
struct Parameters {
  bool tupled = false;  // the program has one parameter, a tuple of them
  std::vector<ShapeInfo> arrays;
};
// Errors: tuples among other parameters or within tuples; tokens; types that hone does not bring to
// devices.
StatusOr<Parameters> ParametersOf(const ProgramGraph& program);

// Inputs that are legal for what each parameter is used for, with what XLA:CPU computes of them:
// the worker compiles and runs the program for it.
StatusOr<InputSet> MakeInputs(Pool& pool, const StateName& program, const Parameters& parameters,
                              int kind, uint64_t seed);

// One loaded program, and what has been made of it.
class Programs {
 public:
  // The pool must outlive it.
  static StatusOr<Programs> Of(Pool& pool, const ProgramInfo& program);

  // The program after passes, under flags. `state` belongs to it.
  StatusOr<DeviceProgram> Make(const StateName& state, const Flags& flags);
  StatusOr<Fingerprint> StateOf(const StateName& state);
  // Of a kind of values (EvaluationOptions).
  StatusOr<InputSet> Inputs(int kind, uint64_t seed);
  // As a comparison chooses them.
  StatusOr<InputSet> Inputs(const verify::InputChoice& choice, const CompareOptions& options);

 private:
  struct Module {
    Fingerprint state;
    std::shared_ptr<const std::string> bytes;
  };
  Programs(Pool& pool, const ProgramInfo& program, Parameters parameters)
      : pool_(&pool), program_{program.id, {}}, parameters_(std::move(parameters)) {}
  StatusOr<Module> Exported(const StateName& state);

  Pool* pool_;
  StateName program_;
  Parameters parameters_;
  std::map<std::string, Module> modules_;  // the last few, by their passes
  std::map<std::pair<int, uint64_t>, InputSet> inputs_;
};

}  // namespace hone::device

#endif  // HONE_DEVICE_PROGRAMS_H_
