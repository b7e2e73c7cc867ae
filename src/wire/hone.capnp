# The wire between the agent side and a worker: one interface, over a socket pair.
# A call that cannot be answered returns a Failure; it never breaks the connection.
@0xa67f489fbd0789bc;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("hone::wire");

struct Failure {
  code @0 :UInt8;  # hone::ErrorCode
  message @1 :Text;  # null where the call succeeded
  # Tasks of hone-loops whose kernels the worker lacks: once they are given, the call may succeed.
  kernels @2 :List(Text);
}

struct Fingerprint {
  high @0 :UInt64;
  low @1 :UInt64;
}

struct Metrics {
  opCount @0 :Int64;
  flops @1 :Float64;
  transcendentals @2 :Float64;
  bytesAccessed @3 :Float64;
  peakMemory @4 :Int64;
  computations @5 :Int32;
  loopDepth @6 :Int32;
  kernels @7 :Int64;
  estimatedSeconds @8 :Float64;
}

struct PassInfo {
  name @0 :Text;
  className @1 :Text;
  meaning @2 :Text;
  group @3 :UInt8;  # hone::PassGroup
  options @4 :Text;
  simplify @5 :Bool;
  kind @6 :UInt8;  # hone::PassKind
  roots @7 :List(Text);
  traits @8 :UInt32;  # hone::PassTraits
}

struct ExcludedPass {
  className @0 :Text;
  reason @1 :Text;
}

struct ProgramInfo {
  id @0 :UInt32;
  fingerprint @1 :Fingerprint;
  name @2 :Text;
  format @3 :Text;
  metrics @4 :Metrics;
  elidedConstants @5 :Bool;
  opcodes @6 :List(UInt64);  # as in Step
  standInConstants @7 :Int32;
}

# hone::Decisions: ascending keys, and the same number of answers.
struct Decisions {
  otherwise @0 :UInt8;
  seed @1 :UInt64;
  keys @2 :List(UInt64);
  accept @3 :List(Bool);
}

struct RewriteSite {
  place @0 :UInt64;
  content @1 :UInt64;
  kind @2 :UInt8;  # hone::RewriteKind
  status @3 :UInt8;  # hone::SiteStatus
  computation @4 :Text;
  instruction @5 :Text;
  opcode @6 :Text;
  original @7 :Text;
  replacement @8 :Text;
  reason @9 :Text;
  deltaOpCount @10 :Int64;
  deltaFlops @11 :Float64;
  deltaBytes @12 :Float64;
}

struct RewritesOptions {
  texts @0 :Bool;
  effects @1 :Bool;
  timePass @2 :Bool;
  whole @3 :Bool;
}

struct Rewrites {
  state @0 :Fingerprint;
  separable @1 :Bool;
  sites @2 :List(RewriteSite);
  conflicts @3 :List(UInt64);  # i << 32 | j
  passSeconds @4 :Float64;
  drySeconds @5 :Float64;
  listSeconds @6 :Float64;
}

# hone::RaceOptions and RaceReport.
struct RaceOptions {
  budgetSeconds @0 :Float64;
  leastSampleSeconds @1 :Float64;
  leastPairs @2 :UInt32;
  mostPairs @3 :UInt32;
  indifferent @4 :Float64;
  seed @5 :UInt64;
  clear @6 :Float64;
  candidateSeconds @7 :Float64;
  estimate @8 :Bool;
  patient @9 :Bool;
  leastSeconds @10 :Float64;
}

struct RaceReport {
  sameExecutable @0 :Bool;
  secondsA @1 :Float64;
  secondsB @2 :Float64;
  speedup @3 :Float64;
  low @4 :Float64;
  high @5 :Float64;
  pairs @6 :UInt32;
  compileSecondsA @7 :Float64;
  compileSecondsB @8 :Float64;
  executableA @9 :Fingerprint;
  executableB @10 :Fingerprint;
}

# hone::CompilePlan and what it is made from.
struct CompilePlan {
  keys @0 :List(UInt64);  # ascending, and the same number of values
  values @1 :List(Text);
  flags @2 :List(Flag);
}

struct Flag {
  name @0 :Text;
  values @1 :List(Text);  # of a plan: one
  first @2 :Bool;         # of FlagChoices
}

struct CompileSite {
  key @0 :UInt64;
  kind @1 :UInt8;  # hone::CompileSiteKind
  places @2 :UInt32;
  instruction @3 :Text;
  opcode @4 :Text;
  user @5 :Text;
  bytes @6 :Int64;
  choices @7 :List(Text);
  stock @8 :UInt32;
  seconds @9 :List(Float64);
}

struct CompileOptions {
  sites @0 :Bool;
  text @1 :Bool;
  fusionHops @2 :UInt32;
  fastMath @3 :Bool;
  freeEntry @4 :Bool;
  code @5 :Bool;
  assembly @6 :Bool;
}

struct KernelTime {
  name @0 :Text;
  opcode @1 :Text;
  seconds @2 :Float64;
  calls @3 :Int64;
}

struct Compiled {
  fingerprint @0 :Fingerprint;
  instructions @1 :Int64;
  sites @2 :List(CompileSite);
  flagChoices @3 :List(Flag);
  text @4 :Data;  # long ones are longer than Text may be
  seconds @5 :Float64;
  applied @6 :UInt64;
  assembly @7 :Data;
}

# One link of the way from a program to a state: only passes that changed something.
struct Link {
  pass @0 :UInt16;
  state @1 :Fingerprint;
  decisions @2 :Decisions;  # null for the pass as it is
}

struct Step {
  pass @0 :UInt16;
  changed @1 :Bool;
  state @2 :Fingerprint;  # after the step; the state before it where it failed
  metrics @3 :Metrics;
  looked @4 :Bool;  # answered from the worker's memory of transitions, not by running the pass
  failure @5 :Text;  # null where the pass succeeded
  opcodes @6 :List(UInt64);  # opcode << 32 | count, where asked for and something changed
}

struct ApplyOptions {
  cost @0 :Bool;  # flops, transcendentals, bytes accessed
  peakMemory @1 :Bool;
  fresh @2 :Bool;  # from a copy of the program, step by step, nothing from the cache or memory
  verify @3 :Bool;  # the HLO verifier after every step that changed something
  opcodes @4 :Bool;
  episode @5 :Bool;  # runs what is known too, remembers nothing, takes the module it starts from
  estimate @6 :Bool;  # seconds by XLA's model of the target
  kernels @7 :Bool;
}

struct KnownFailure {
  state @0 :Fingerprint;
  pass @1 :UInt16;
  failure @2 :Text;
  decisions @3 :UInt64;  # hone::Decisions::Hash
}

enum ExportFormat {
  text @0;
  proto @1;  # HloProto, binary
}

struct Shape {
  type @0 :Text;  # XLA's name of the element type, or "tuple" or "token" or "opaque"
  dimensions @1 :List(Int64);
  minorToMajor @2 :List(Int64);  # empty where the shape has no layout
  bytes @3 :Int64;
  tuple @4 :List(Shape);
}

struct Attribute {
  name @0 :Text;
  value @1 :Text;  # as HLO text writes it
}

struct Instruction {
  name @0 :Text;
  opcode @1 :Text;
  shape @2 :Shape;
  operands @3 :List(UInt32);  # indices into the computation's instructions
  called @4 :List(UInt32);  # indices into the program's computations
  attributes @5 :List(Attribute);
  parameter @6 :Int32 = -1;
  literal @7 :Text;  # of small constants
  origin @8 :Text;  # in the source, where it is known
}

struct Computation {
  name @0 :Text;
  instructions @1 :List(Instruction);  # operands before users
  root @2 :UInt32;
}

struct ProgramGraph {
  name @0 :Text;
  computations @1 :List(Computation);  # callees before callers; the entry is last
}

struct CompareOptions {
  inputs @0 :UInt32;
  seed @1 :UInt64;
  budgetSeconds @2 :Float64;
  given @3 :List(List(Data));
  pipeline @4 :Bool;
}

struct OutputError {
  output @0 :UInt32;
  shape @1 :Text;
  worstError @2 :Float64;
  worstAbsolute @3 :Float64;
  elementsOver @4 :Int64;
}

struct ComparisonReport {
  verdict @0 :UInt8;  # hone::Verdict
  method @1 :Text;
  reason @2 :Text;
  inputs @3 :UInt32;
  worstError @4 :Float64;
  finiteShare @5 :Float64;
  seconds @6 :Float64;
  errors @7 :List(OutputError);
  compileSeconds @8 :Float64;
  processorSeconds @9 :Float64;
}

# A state is named by its program and the links from it.
struct StateName {
  program @0 :UInt32;
  links @1 :List(Link);
}

# A state whose module an episode leaves behind.
struct Left {
  program @0 :UInt32;
  state @1 :Fingerprint;
}

# hone::ProgramArrays; each field the array's bytes, in the machine's own order.
struct ProgramArrays {
  opcode @0 :Data;
  type @1 :Data;
  rank @2 :Data;
  computation @3 :Data;
  dimensions @4 :Data;
  flops @5 :Data;
  bytes @6 :Data;
  edgeStart @7 :Data;
  edgeSource @8 :Data;
  edgeKind @9 :Data;
}

struct RunTimeOptions {
  runs @0 :UInt32;
  leastSeconds @1 :Float64;
  budgetSeconds @2 :Float64;
  seed @3 :UInt64;
}

struct EvaluationOptions {
  seed @0 :UInt64;
  kind @1 :UInt8;
  moved @2 :UInt8;
  noisy @3 :UInt8;
  run @4 :Bool;
  given @5 :List(Data);
  wide @6 :UInt8;
}

# hone::Evaluation: arrays are row-major, in the machine's own byte order.
struct Evaluation {
  parameters @0 :List(Data);
  results @1 :List(Data);
  noisyResults @2 :List(List(Data));
  constants @3 :List(LargeConstant);
}

struct LargeConstant {
  computation @0 :UInt32;
  instruction @1 :UInt32;
  bytes @2 :Data;
}

interface Worker {
  hello @0 () -> (version :Text, passes :List(PassInfo), excluded :List(ExcludedPass),
                  opcodes :List(Text), types :List(Text), failure :Failure, target :Text);

  # `program` is chosen by the caller, so that a restarted worker can be given the same names.
  load @1 (program :UInt32, data :Data) -> (info :ProgramInfo, failure :Failure);
  unload @2 (program :UInt32) -> (failure :Failure);

  # Runs `passes` in order from `from`. A pass that fails leaves the state as it was.
  # `start` is the state really started from: other than the last link's where the compiler
  # did something else this time.
  # `decisions` is empty or has one for each pass.
  # What is in `avoid` fails without being run. Modules of `left` are dropped first.
  apply @3 (from :StateName, passes :List(UInt16), avoid :List(KnownFailure),
            options :ApplyOptions, left :List(Left), decisions :List(Decisions))
      -> (start :Fingerprint, steps :List(Step), failure :Failure);

  # Makes sure that the state is held in memory, so that several continuations are cheap.
  hold @4 (state :StateName) -> (failure :Failure);

  metrics @5 (state :StateName) -> (metrics :Metrics, failure :Failure);
  describe @6 (state :StateName) -> (graph :ProgramGraph, failure :Failure);
  # Rebuilt from the program, step by step, so that equal recipes give equal bytes.
  export @7 (state :StateName, format :ExportFormat)
      -> (data :Data, state :Fingerprint, failure :Failure);
  # As the stock compiler compiles them where the plans are empty, also in race.
  compare @8 (a :StateName, b :StateName, options :CompareOptions, planA :CompilePlan,
              planB :CompilePlan)
      -> (report :ComparisonReport, failure :Failure);

  # The passes that the stock compiler runs on this very program, in order, by XLA's names.
  stockPasses @9 (program :UInt32) -> (passes :List(StockPass), failure :Failure);

  # Unlike `describe`, of the module that is held, if there is one.
  arrays @10 (state :StateName) -> (arrays :ProgramArrays, failure :Failure);
  runTime @11 (state :StateName, options :RunTimeOptions)
      -> (seconds :List(Float64), compileSeconds :Float64, failure :Failure,
          compiledInstructions :Int64);

  # Passes without hone around them, to measure hone against.
  rawLoop @12 (program :UInt32, actions :List(UInt16), seed :UInt64, firstEpisode :Int64,
               length :UInt32, seconds :Float64)
      -> (steps :Int64, episodes :Int64, failures :Int64, seconds :Float64, failure :Failure);

  # What the pass would do to the state, rewrite by rewrite; the state stays as it is.
  rewrites @13 (state :StateName, pass :UInt16, options :RewritesOptions)
      -> (rewrites :Rewrites, failure :Failure);

  # The pass runs and stops at every rewrite to be told. The first question; an empty site where
  # there is none (any more). A new conversation ends the one before it. `done` says how it went.
  converse @14 (state :StateName, pass :UInt16, options :RewritesOptions)
      -> (site :RewriteSite, done :Bool, failure :Failure);
  answer @15 (accept :Bool) -> (site :RewriteSite, done :Bool, failure :Failure);

  # Which of two states is faster. The executable of `a` is kept for the next race.
  race @16 (a :StateName, b :StateName, options :RaceOptions, planA :CompilePlan,
            planB :CompilePlan)
      -> (report :RaceReport, failure :Failure);

  # Modules cut out of a state, as HLO text; of tasks also the rest of hone::ProgramTask.
  extract @17 (state :StateName, what :UInt8, seed :UInt64, most :UInt32)
      -> (modules :List(Text), failure :Failure, what :List(Text),
          places :List(Int64), runs :List(Int64));

  # The stock compiler under a plan.
  compile @18 (state :StateName, plan :CompilePlan, options :CompileOptions)
      -> (compiled :Compiled, failure :Failure);

  # Where the time of a run goes.
  profile @19 (state :StateName, plan :CompilePlan, seconds :Float64, seed :UInt64)
      -> (kernels :List(KernelTime), failure :Failure);

  # What a state computes of inputs, and further legal runs.
  evaluate @20 (state :StateName, options :EvaluationOptions)
      -> (evaluation :Evaluation, failure :Failure);

  # Machine code for custom calls `hone_loops`; kept as long as the worker lives.
  giveKernel @21 (name :Text, object :Data, bytes :List(Int64)) -> (failure :Failure);

  # What the program's runs are timed on from now on: an array for each leaf of its parameters.
  giveInputs @22 (program :UInt32, arrays :List(Data)) -> (failure :Failure);
}

struct StockPass {
  name @0 :Text;
  pipeline @1 :Text;
  changed @2 :Bool;
}
