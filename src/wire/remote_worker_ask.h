// How a RemoteWorker calls: for its own files.
#ifndef HONE_WIRE_REMOTE_WORKER_ASK_H_
#define HONE_WIRE_REMOTE_WORKER_ASK_H_

#include "core/result.h"
#include "wire/codec.h"

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

}  // namespace hone

#endif  // HONE_WIRE_REMOTE_WORKER_ASK_H_
