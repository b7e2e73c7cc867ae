# The wire between the agent side and hone-device, which runs a PJRT plugin: one interface, over a socket
# pair, framed as that of the workers (wire/channel.h). A schema of its own, so that plugins and XLA's
# workers change independently.
@0xc57c1fb478325ea8;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("hone::device");

struct CallFailure {
  code @0 :UInt8;  # hone::ErrorCode
  message @1 :Text;  # null where the call succeeded
}

# PJRT_NamedValue, written as text: "true", "0.75", "[0;1]".
struct NamedText {
  name @0 :Text;
  value @1 :Text;
}

struct DeviceFacts {
  id @0 :Int32;
  kind @1 :Text;
  text @2 :Text;
  attributes @3 :List(NamedText);
  memoryBytes @4 :Int64;  # that there are; 0 where the plugin does not tell
}

struct PluginFacts {
  apiMajor @0 :Int32;
  apiMinor @1 :Int32;
  platform @2 :Text;
  platformVersion @3 :Text;
  attributes @4 :List(NamedText);
  devices @5 :List(DeviceFacts);
}

# Row-major, in the machine's own byte order.
struct WireArray {
  type @0 :Text;  # XLA's name of the element type
  dimensions @1 :List(Int64);
  bytes @2 :Data;
}

interface Device {
  # Once, first: loads the plugin, makes its client, takes the device of that number.
  open @0 (plugin :Text, options :List(NamedText), device :UInt32)
      -> (facts :PluginFacts, failure :CallFailure);

  # Names of executables and inputs are the caller's. `options` is a serialized CompileOptionsProto,
  # but for the device, which is the one that was opened.
  compile @1 (executable :UInt32, format :Text, code :Data, options :Data)
      -> (seconds :Float64, failure :CallFailure);
  drop @2 (executable :UInt32) -> (failure :CallFailure);

  place @3 (inputs :UInt32, arrays :List(WireArray)) -> (failure :CallFailure);
  remove @4 (inputs :UInt32) -> (failure :CallFailure);

  run @5 (executable :UInt32, inputs :UInt32) -> (outputs :List(WireArray), failure :CallFailure);

  # Seconds of a run, for each pair that of a, then that of b, whichever ran first: a in the pairs of even
  # number. A time is the mean over `repeats` runs, each waited for.
  time @6 (a :UInt32, b :UInt32, inputs :UInt32, firstPair :UInt32, pairs :UInt32, repeats :UInt32)
      -> (seconds :List(Float64), failure :CallFailure);
}
