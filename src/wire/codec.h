// Between the wire's structs and the core's, both ways, of all that structs.def and calls.def list.
// Readers take what they are given, within the bounds that are listed there, and leave judging it
// to whoever uses it.
#ifndef HONE_WIRE_CODEC_H_
#define HONE_WIRE_CODEC_H_

#include "core/result.h"
#include "wire/channel.h"
#include "wire/hone.capnp.h"
#include "wire/requests.h"

namespace hone::wire {

#define HONE_CONVERSIONS(core, schema)                   \
  void ToWire(const hone::core& value, schema::Builder); \
  void FromWire(schema::Reader, hone::core& value);
#define HONE_STRUCT(core, schema) HONE_CONVERSIONS(core, schema)
#include "wire/structs.def"

#define HONE_CALL(name, doing) HONE_CONVERSIONS(name##Request, Worker::name##Params)
#define HONE_GIVES(name, type) HONE_CONVERSIONS(name##Request::Result, Worker::name##Results)
#include "wire/calls.def"

HONE_CONVERSIONS(Decisions, Decisions)
HONE_CONVERSIONS(CompilePlan, CompilePlan)
#undef HONE_CONVERSIONS

void ToWire(const Error& error, Failure::Builder out);
// True and the error where there is one.
bool FromWire(Failure::Reader in, Error& error);

// The calls, each with the structs that Cap'n Proto makes of its parameters and results.
template <class Request>
struct CallOf;
#define HONE_CALL(name, doing)                         \
  template <>                                          \
  struct CallOf<hone::name##Request> {                 \
    using Request = hone::name##Request;               \
    using Params = Worker::name##Params;               \
    using Results = Worker::name##Results;             \
    static constexpr Method kMethod = Method::k##name; \
  };                                                   \
  using name##Call = CallOf<hone::name##Request>;
#include "wire/calls.def"

}  // namespace hone::wire

#endif  // HONE_WIRE_CODEC_H_
