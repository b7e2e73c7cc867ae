// From Python's plain values to the environments' options, and from views to numpy arrays.
#ifndef HONE_PYTHON_CONVERT_H_
#define HONE_PYTHON_CONVERT_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/comparison.h"
#include "core/race.h"
#include "env/vector_env.h"

namespace hone::python {

namespace nb = nanobind;

// A numpy array that owns `values`: nothing is copied.
template <class T>
nb::object ToNumpy(std::vector<T> values, std::vector<size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner));
}

// Throws nb::value_error with hone's message for bad input, std::runtime_error for the rest.
[[noreturn]] void Throw(const Error& error);

template <class T>
T OrThrow(StatusOr<T> result) {
  if (!result) Throw(result.error());
  return *std::move(result);
}
inline void OrThrow(const Status& status) {
  if (!status) Throw(status.error());
}

// Unknown keys are an error that names the nearest known one.
EnvOptions ToEnvOptions(const nb::dict& options);
PoolOptions ToPoolOptions(const nb::dict& options);

// One part of the observations of `views`, stacked: "opcodes" float32 [n, opcodes], "opcode_counts"
// int32 [n, opcodes], "cost" float64 [n, 5], "peak_memory" float64 [n, 1], "history" int64
// [n, traj_limit].
nb::object Observe(const std::vector<const View*>& views, const Session& session,
                   const std::string& part);
// The arrays of ProgramArrays by name, not writable, for they may be the environment's own.
nb::dict ObserveGraph(const View& view);

// [(pass, Decisions)] of what made a state of its program.
nb::list ToList(const std::vector<Link>& links, const Pool& pool);

nb::dict ToDict(const ComparisonReport& report);
nb::dict ToDict(const RaceReport& report);

}  // namespace hone::python

#endif  // HONE_PYTHON_CONVERT_H_
