#include "wire/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>

namespace hone::wire {
namespace {

struct Frame {
  uint64_t method;
  uint64_t words;
};

bool SendAll(int socket, iovec* parts, size_t count) {
  while (count > 0) {
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = count;
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    auto left = static_cast<size_t>(sent);
    while (count > 0 && left >= parts->iov_len) {
      left -= parts->iov_len;
      ++parts;
      --count;
    }
    if (count > 0) {
      parts->iov_base = static_cast<char*>(parts->iov_base) + left;
      parts->iov_len -= left;
    }
  }
  return true;
}

bool ReceiveAll(int socket, const std::function<bool()>& wait, void* to, size_t bytes) {
  auto* place = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = recv(socket, place, bytes, MSG_DONTWAIT);
    if (got > 0) {
      place += got;
      bytes -= static_cast<size_t>(got);
    } else if (got == 0) {
      return false;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait()) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Send(int socket, Method method, capnp::MessageBuilder& message) {
  const kj::Array<capnp::word> words = capnp::messageToFlatArray(message);
  Frame frame{static_cast<uint64_t>(method), words.size()};
  iovec parts[] = {{&frame, sizeof(frame)},
                   {const_cast<capnp::word*>(words.begin()), words.size() * sizeof(capnp::word)}};
  return SendAll(socket, parts, 2);
}

bool Receive(int socket, const std::function<bool()>& wait, Received& received) {
  Frame frame;
  if (!ReceiveAll(socket, wait, &frame, sizeof(frame))) return false;
  received.method = static_cast<Method>(frame.method);
  received.words = kj::heapArray<capnp::word>(frame.words);
  return ReceiveAll(socket, wait, received.words.begin(), frame.words * sizeof(capnp::word));
}

bool Readable(int socket, int milliseconds) {
  pollfd waited{socket, POLLIN, 0};
  return poll(&waited, 1, milliseconds) > 0;
}

}  // namespace hone::wire
