// How long each call may take, and how it is made: again where the worker was killed from outside,
// and with the kernels that it lacked.
#include <string>
#include <utility>
#include <vector>

#include "wire/codec.h"
#include "wire/give_kernels.h"
#include "wire/remote_worker.h"
#include "wire/remote_worker_ask.h"
#include "wire/worker_link.h"

namespace hone {

using wire::Patience;

namespace {

// That an interrupted comparison has for the run in hand, before it answers with what it has.
constexpr double kAnswerSeconds = 5;

template <class Request>
Patience PatienceFor(const Request&, const PoolOptions& pool) {
  return {pool.call_deadline_seconds, false, nullptr};
}
Patience PatienceFor(const CompareRequest& request, const PoolOptions&) {
  const CompareOptions& options = request.options;
  return {options.budget_seconds * 1.5 + options.grace_seconds, false, options.stop,
          kAnswerSeconds};
}
Patience PatienceFor(const EvaluateRequest& request, const PoolOptions& pool) {
  return {request.options.deadline_seconds, false, pool.stop};
}
Patience PatienceFor(const RunTimeRequest& request, const PoolOptions&) {
  return {request.options.budget_seconds * 1.5 + 30, false, nullptr};
}
Patience PatienceFor(const RewritesRequest&, const PoolOptions& pool) {
  return {pool.pass_deadline_seconds, true, pool.stop};
}
Patience PatienceFor(const CompileRequest& request, const PoolOptions&) {
  return {request.options.deadline_seconds, false, nullptr};
}
Patience PatienceFor(const ProfileRequest& request, const PoolOptions&) {
  return {request.most_seconds, false, nullptr};
}
// Between two ticks: a compilation or a sample. The worker knows when b's turn has come, and says
// so. How many samples there are is the budget's.
Patience PatienceFor(const RaceRequest& request, const PoolOptions&) {
  return {request.options.compile_seconds, true, nullptr};
}
Patience PatienceFor(const RawLoopRequest&, const PoolOptions& pool) {
  return {pool.pass_deadline_seconds, true, pool.stop};
}

// The programs that a request names: those of its states, or its own.
template <class Request>
std::vector<ProgramId> ProgramsOf(const Request& request) {
  if constexpr (requires { request.state; }) {
    return {request.state.program};
  } else if constexpr (requires { request.plan_b; }) {
    return {request.a.program, request.b.program};
  } else if constexpr (requires { request.program; }) {
    return {request.program};
  } else {
    return {};
  }
}

}  // namespace

template <class Request>
StatusOr<typename Request::Result> RemoteWorker::Ask(const Request& request) {
  using Call = wire::CallOf<Request>;
  std::string doing = Request::kDoing;
  if constexpr (requires { request.pass; }) {
    doing += "pass " + memory_->facts.passes[request.pass].name;
  }
  StatusOr<wire::Reply<Call>> response = MakeError(ErrorCode::kInternal, "not called");
  for (int attempt = 0; attempt <= kMostKills; ++attempt) {
    if (Status ready = Prepare(ProgramsOf(request)); !ready) {
      response = tl::unexpected(ready.error());
      // Only from outside: of its own it dies of a program that is bad input.
      if (ready.error().code == ErrorCode::kWorkerDied) continue;
      break;
    }
    response = link_->Call<Call>(PatienceFor(request, memory_->options),
                                 [&](auto params) { wire::ToWire(request, params); });
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
  if (Status answer = OutcomeOf(response); !answer) return tl::unexpected(answer.error());
  typename Request::Result result;
  wire::FromWire(*response, result);
  return result;
}

#define HONE_CALL(name, doing) \
  template StatusOr<name##Request::Result> RemoteWorker::Ask(const name##Request&);
#include "wire/calls.def"

}  // namespace hone
