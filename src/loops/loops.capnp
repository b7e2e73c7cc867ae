# The wire between the agent side and hone-loops, which links MLIR: one interface, over a socket pair,
# framed as that of the workers (wire/channel.h).
@0xd7b8c9f0a1e2436b;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("hone::loops");

struct CallFailure {
  code @0 :UInt8;  # hone::ErrorCode
  message @1 :Text;  # null where the call succeeded
}

struct Unrolled {
  site @0 :Text;
  factor @1 :Int64;
}

# Which values a buffer begins with: loops/inputs.h. Of an output: none.
struct Buffer {
  element @0 :UInt8;
  elements @1 :Int64;
  filled @2 :Bool;
}

interface Loops {
  # Names of kernels and inputs are the caller's.
  compile @0 (kernel :UInt32, module :Text, script :Text, vectorized :List(Text),
              unrolled :List(Unrolled), buffers :UInt32, texts :Bool)
      -> (seconds :Float64, object :Data, restructured :Text, assembly :Text, processor :Text,
          failure :CallFailure);
  drop @1 (kernel :UInt32) -> (failure :CallFailure);

  place @2 (inputs :UInt32, buffers :List(Buffer), kind :UInt32, seed :UInt64, moved :UInt64)
      -> (failure :CallFailure);
  remove @3 (inputs :UInt32) -> (failure :CallFailure);

  # The outputs' bytes: whole, or the elements at `points` of each.
  run @4 (kernel :UInt32, inputs :UInt32, points :List(Int64))
      -> (outputs :List(Data), failure :CallFailure);

  # Seconds of a run, for each pair that of a, then that of b, whichever ran first: a in the pairs of even
  # number. A time is the mean over `repeats` runs. Cold: no cache holds a buffer when a run begins.
  time @5 (a :UInt32, b :UInt32, inputs :UInt32, firstPair :UInt32, pairs :UInt32, repeats :UInt32,
           cold :Bool, threads :UInt32)
      -> (seconds :List(Float64), failure :CallFailure);
}
