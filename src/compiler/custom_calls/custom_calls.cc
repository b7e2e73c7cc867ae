#include "compiler/custom_calls/custom_calls.h"

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "compiler/custom_calls/decompositions.h"
#include "compiler/custom_calls/lapack_library.h"
#include "compiler/custom_calls/python_callbacks.h"
#include "compiler/custom_calls/solvers.h"
#include "compiler/custom_calls/sparse.h"
#include "compiler/custom_calls/stored_noise.h"
#include "compiler/native/handler.h"
#include "compiler/native/pool_runner.h"
#include "core/native_kernel.h"
#include "xla/ffi/api/ffi.h"

// Of xla/ffi/ffi_api.h, which includes far more.
namespace xla::ffi {
const XLA_FFI_Api* GetXlaFfiApi();
}  // namespace xla::ffi

namespace hone::compiler {
namespace {

using xla::ffi::Dictionary;
using xla::ffi::Error;
using xla::ffi::Ffi;
using xla::ffi::RemainingArgs;
using xla::ffi::RemainingRets;

// What XLA calls: a function of its own for each name.
template <auto Kernel>
XLA_FFI_Error* Handler(XLA_FFI_CallFrame* frame) {
  static auto* const handler =
      Ffi::Bind().RemainingArgs().RemainingRets().Attrs().To(Kernel).release();
  return handler->Call(frame);
}

template <void (*Routine)(Call&)>
Error Checked(RemainingArgs operands, RemainingRets results, Dictionary attributes) {
  Call call(operands, results, attributes);
  Routine(call);
  return call.error();
}

Error Tridiagonal(RemainingArgs operands, RemainingRets results, Dictionary attributes) {
  return SolvePerturbedTridiagonal(operands, results, attributes);
}

// Elements of an array for whose noise two threads are worth it.
constexpr int64_t kLeastShared = 1 << 15;

std::optional<StoredFloat> PartsOf(xla::ffi::DataType type) {
  switch (type) {
    case xla::ffi::DataType::BF16:
      return StoredFloat::kBf16;
    case xla::ffi::DataType::F16:
      return StoredFloat::kF16;
    case xla::ffi::DataType::F32:
    case xla::ffi::DataType::C64:
      return StoredFloat::kF32;
    case xla::ffi::DataType::F64:
    case xla::ffi::DataType::C128:
      return StoredFloat::kF64;
    default:
      return std::nullopt;
  }
}

Error Noise(RemainingArgs operands, RemainingRets results, Dictionary attributes,
            xla::ffi::ThreadPool pool) {
  const auto salt = attributes.get<int64_t>(kNoiseSalt);
  const auto steps = attributes.get<float>(kNoiseSteps);
  const auto from = operands.get<xla::ffi::AnyBuffer>(0);
  auto to = results.get<xla::ffi::AnyBuffer>(0);
  if (!salt.has_value() || !steps.has_value() || !from.has_value() || !to.has_value() ||
      from->size_bytes() != (*to)->size_bytes() || !PartsOf(from->element_type())) {
    return Error::InvalidArgument("hone_noise takes a salt, steps and floats, and gives as many");
  }
  const StoredNoise noise(*PartsOf(from->element_type()), static_cast<uint64_t>(*salt), *steps);
  struct Arrays {
    const StoredNoise& noise;
    const char* from;
    char* to;
  } arrays = {noise, static_cast<const char*>(from->untyped_data()),
              static_cast<char*>((*to)->untyped_data())};
  const auto part = [](void* state, int64_t begin, int64_t end) {
    const Arrays& all = *static_cast<Arrays*>(state);
    const int64_t width = all.noise.width();
    all.noise.Move(all.from + begin * width, all.to + begin * width, end - begin);
  };
  const auto count = static_cast<int64_t>(from->size_bytes()) / noise.width();
  const native::PoolRunner runner(pool);
  if (count < kLeastShared || runner.threads() < 2) {
    part(&arrays, 0, count);
  } else {
    runner.run(&runner, count, part, &arrays);
  }
  return Error::Success();
}

XLA_FFI_Error* NoiseHandler(XLA_FFI_CallFrame* frame) {
  static auto* const handler = Ffi::Bind()
                                   .RemainingArgs()
                                   .RemainingRets()
                                   .Attrs()
                                   .Ctx<xla::ffi::ThreadPool>()
                                   .To(Noise)
                                   .release();
  return handler->Call(frame);
}

Error Sparse(RemainingArgs operands, RemainingRets results, Dictionary attributes) {
  return MultiplyCompressedRows(operands, results, attributes);
}

Error Python(RemainingArgs operands, RemainingRets results, Dictionary) {
  return AnswerForPython(operands, results);
}

// Keeps its operands alive, and does nothing.
Error Sink(RemainingArgs, RemainingRets, Dictionary) { return Error::Success(); }

void Register(const std::string& target, XLA_FFI_Handler* handler) {
  XLA_FFI_Error* error =
      Ffi::RegisterStaticHandler(xla::ffi::GetXlaFfiApi(), target, "Host", handler);
  if (error == nullptr) return;
  std::fprintf(stderr, "XLA does not take a handler for %s\n", target.c_str());
  std::abort();
}

// `handlers` are for s, d, c and z.
struct FourHandlers {
  XLA_FFI_Handler* handlers[4];
};

#define HONE_FOUR(Routine)                                                 \
  FourHandlers {                                                           \
    {                                                                      \
      Handler<Checked<Routine<float>>>, Handler<Checked<Routine<double>>>, \
          Handler<Checked<Routine<std::complex<float>>>>,                  \
          Handler<Checked<Routine<std::complex<double>>>>                  \
    }                                                                      \
  }

void RegisterFour(const std::string& real, const std::string& complex, const FourHandlers& four) {
  for (int k = 0; k < 4; ++k) {
    const std::string routine = std::string(1, "sdcz"[k]) + (k < 2 ? real : complex);
    if (LapackFunction(routine + "_") == nullptr) continue;
    Register("lapack_" + routine + "_ffi", four.handlers[k]);
  }
}

void RegisterFour(const std::string& name, const FourHandlers& four) {
  RegisterFour(name, name, four);
}

}  // namespace

void RegisterCustomCalls() {
  RegisterFour("trsm", HONE_FOUR(Trsm));
  RegisterFour("getrf", HONE_FOUR(Getrf));
  RegisterFour("geqrf", HONE_FOUR(Geqrf));
  RegisterFour("geqp3", HONE_FOUR(Geqp3));
  RegisterFour("orgqr", "ungqr", HONE_FOUR(Orgqr));
  RegisterFour("ormqr", "unmqr", HONE_FOUR(Ormqr));
  RegisterFour("potrf", HONE_FOUR(Potrf));
  RegisterFour("gtsv", HONE_FOUR(Gtsv));
  RegisterFour("gesdd", HONE_FOUR(Gesdd));
  RegisterFour("gesvd", HONE_FOUR(Gesvd));
  RegisterFour("syevd", "heevd", HONE_FOUR(Syevd));
  RegisterFour("geev", HONE_FOUR(Geev));
  RegisterFour("gees", HONE_FOUR(Gees));
  RegisterFour("gehrd", HONE_FOUR(Gehrd));
  RegisterFour("sytrd", "hetrd", HONE_FOUR(Sytrd));
  Register("tridiagonal_solve_perturbed_ffi", Handler<Tridiagonal>);
  Register("cpu_csr_sparse_dense_ffi", Handler<Sparse>);
  Register("dce_sink", Handler<Sink>);
  for (const char* target : kPythonCallbacks) Register(target, Handler<Python>);
  Register(kNoiseCall, NoiseHandler);
  Register(loops::kKernelCall, native::RunKernel);
}

void RegisterStandIn(const std::string& target) {
  XLA_FFI_Error* error =
      Ffi::RegisterStaticHandler(xla::ffi::GetXlaFfiApi(), target, "CUDA", Handler<Sink>);
  if (error == nullptr) return;
  xla::ffi::internal::DestroyError(xla::ffi::GetXlaFfiApi(), error);  // there is one
}

std::string HowToGetCustomCall(const std::string& target) {
  return !HasLapack() && target.rfind("lapack_", 0) == 0 ? HowToGetLapack() : "";
}

}  // namespace hone::compiler
