// How a RemoteWorker calls: for its own files.
#ifndef HONE_WIRE_REMOTE_WORKER_ASK_H_
#define HONE_WIRE_REMOTE_WORKER_ASK_H_

#include <string>
#include <vector>

#include "wire/codec.h"
#include "wire/give_kernels.h"
#include "wire/remote_worker.h"
#include "wire/worker_link.h"

namespace hone {

// How often a call may lose its worker to somebody outside: machines of a cluster come and go.
inline constexpr int kMostKills = 5;

// The error that the worker answered with, if any.
template <class Response>
Status OutcomeOf(const StatusOr<Response>& response) {
  if (!response) return tl::unexpected(response.error());
  Error error;
  if (wire::FromWire(response->getFailure(), error)) return tl::unexpected(error);
  return {};
}

// A call that is made again when the worker was killed from outside.
template <class C, class Make>
StatusOr<wire::Reply<C>> RemoteWorker::CallOn(const std::vector<ProgramId>& programs,
                                              const wire::Patience& patience,
                                              const std::string& doing, Make make) {
  StatusOr<wire::Reply<C>> response = MakeError(ErrorCode::kInternal, "not called");
  for (int attempt = 0; attempt <= kMostKills; ++attempt) {
    if (Status ready = Prepare(programs); !ready) {
      response = tl::unexpected(ready.error());
      // Only from outside: of its own it dies of a program that is bad input.
      if (ready.error().code == ErrorCode::kWorkerDied) continue;
      break;
    }
    response = link_->Call<C>(patience, make);
    Note();
    if (response) {
      const std::vector<std::string> lacking = wire::KernelsLacking(response->getFailure());
      if (lacking.empty() || !memory_->options.kernels) break;
      // What it was given, it does not lack the next time.
      const Status given = GiveKernels(lacking);
      if (given) continue;
      response = tl::unexpected(given.error());
      break;
    }
    Mourn(response.error(), doing);
    if (!link_->killed_from_outside()) break;
  }
  return response;
}

// The call that `make` makes, on a worker that has `programs`, and what `read` reads from its
// answer.
template <class C, class Make, class Read>
auto RemoteWorker::Ask(const std::vector<ProgramId>& programs, const wire::Patience& patience,
                       const std::string& doing, Make make, Read read) {
  auto response = CallOn<C>(programs, patience, doing, make);
  using Result = StatusOr<decltype(read(*response))>;
  if (Status answer = OutcomeOf(response); !answer) return Result(tl::unexpected(answer.error()));
  return Result(read(*response));
}

}  // namespace hone

#endif  // HONE_WIRE_REMOTE_WORKER_ASK_H_
