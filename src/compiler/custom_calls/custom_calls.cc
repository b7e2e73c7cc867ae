#include "compiler/custom_calls/custom_calls.h"

#include <complex>
#include <cstdio>
#include <cstdlib>

#include "compiler/custom_calls/decompositions.h"
#include "compiler/custom_calls/lapack_library.h"
#include "compiler/custom_calls/solvers.h"
#include "compiler/custom_calls/sparse.h"
#include "compiler/native/handler.h"
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

Error Sparse(RemainingArgs operands, RemainingRets results, Dictionary attributes) {
  return MultiplyCompressedRows(operands, results, attributes);
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
  Register(loops::kKernelCall, native::RunKernel);
}

void RegisterStandIn(const std::string& target) {
  XLA_FFI_Error* error =
      Ffi::RegisterStaticHandler(xla::ffi::GetXlaFfiApi(), target, "CUDA", Handler<Sink>);
  if (error != nullptr) xla::ffi::internal::DestroyError(xla::ffi::GetXlaFfiApi(), error);  // there is one
}

std::string HowToGetCustomCall(const std::string& target) {
  return !HasLapack() && target.rfind("lapack_", 0) == 0 ? HowToGetLapack() : "";
}

}  // namespace hone::compiler
