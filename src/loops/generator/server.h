// Answers the calls of loops.capnp, one after another.
#ifndef HONE_LOOPS_GENERATOR_SERVER_H_
#define HONE_LOOPS_GENERATOR_SERVER_H_

namespace hone::loops {

// Until the other side is gone.
void Serve(int socket);

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_SERVER_H_
