#include "wire/codec.h"

#include <algorithm>
#include <cstring>

namespace hone::wire {
namespace {

template <class List, class Values>
void Copy(List list, const Values& values) {
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, values[i]);
}

// Cap'n Proto's iterators are too plain for std::vector::assign.
template <class T, class List>
std::vector<T> Values(List list) {
  std::vector<T> values;
  values.reserve(list.size());
  for (auto value : list) values.push_back(value);
  return values;
}

// An array's bytes, and back.
template <class T>
capnp::Data::Reader Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const kj::byte*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
void FromBytes(capnp::Data::Reader bytes, std::vector<T>& values) {
  values.resize(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.begin(), values.size() * sizeof(T));
}

void ToWire(const OpcodeCounts& opcodes, capnp::List<uint64_t>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i) {
    out.set(i, static_cast<uint64_t>(opcodes[i].opcode) << 32 | opcodes[i].count);
  }
}
OpcodeCounts FromWire(capnp::List<uint64_t>::Reader in) {
  OpcodeCounts opcodes;
  opcodes.reserve(in.size());
  for (uint64_t word : in) {
    opcodes.push_back({static_cast<uint16_t>(word >> 32), static_cast<uint32_t>(word)});
  }
  return opcodes;
}

unsigned Size(size_t size) { return static_cast<unsigned>(size); }

void ToWire(const ShapeInfo& shape, Shape::Builder out) {
  out.setType(shape.type);
  Copy(out.initDimensions(Size(shape.dimensions.size())), shape.dimensions);
  Copy(out.initMinorToMajor(Size(shape.minor_to_major.size())), shape.minor_to_major);
  out.setBytes(shape.bytes);
  auto tuple = out.initTuple(Size(shape.tuple.size()));
  for (unsigned i = 0; i < tuple.size(); ++i) ToWire(shape.tuple[i], tuple[i]);
}

ShapeInfo FromWire(Shape::Reader in) {
  ShapeInfo shape;
  shape.type = in.getType().cStr();
  shape.dimensions = Values<int64_t>(in.getDimensions());
  shape.minor_to_major = Values<int64_t>(in.getMinorToMajor());
  shape.bytes = in.getBytes();
  for (Shape::Reader element : in.getTuple()) shape.tuple.push_back(FromWire(element));
  return shape;
}

void ToWire(const InstructionInfo& instruction, Instruction::Builder out) {
  out.setName(instruction.name);
  out.setOpcode(instruction.opcode);
  ToWire(instruction.shape, out.initShape());
  Copy(out.initOperands(Size(instruction.operands.size())), instruction.operands);
  Copy(out.initCalled(Size(instruction.called.size())), instruction.called);
  auto attributes = out.initAttributes(Size(instruction.attributes.size()));
  for (unsigned i = 0; i < attributes.size(); ++i) {
    attributes[i].setName(instruction.attributes[i].first);
    attributes[i].setValue(instruction.attributes[i].second);
  }
  out.setParameter(instruction.parameter);
  if (!instruction.literal.empty()) out.setLiteral(instruction.literal);
}

InstructionInfo FromWire(Instruction::Reader in) {
  InstructionInfo instruction;
  instruction.name = in.getName().cStr();
  instruction.opcode = in.getOpcode().cStr();
  instruction.shape = FromWire(in.getShape());
  instruction.operands = Values<uint32_t>(in.getOperands());
  instruction.called = Values<uint32_t>(in.getCalled());
  for (Attribute::Reader attribute : in.getAttributes()) {
    instruction.attributes.emplace_back(attribute.getName().cStr(), attribute.getValue().cStr());
  }
  instruction.parameter = in.getParameter();
  instruction.literal = in.getLiteral().cStr();
  return instruction;
}

}  // namespace

void ToWire(const Error& error, Failure::Builder out) {
  out.setCode(static_cast<uint8_t>(error.code));
  out.setMessage(error.message);
}

bool FromWire(Failure::Reader in, Error& error) {
  if (!in.hasMessage()) return false;
  error.code = static_cast<ErrorCode>(
      std::min<uint8_t>(in.getCode(), static_cast<uint8_t>(ErrorCode::kInternal)));
  error.message = in.getMessage().cStr();
  return true;
}

void ToWire(const hone::Fingerprint& fingerprint, Fingerprint::Builder out) {
  out.setHigh(fingerprint.high);
  out.setLow(fingerprint.low);
}

hone::Fingerprint FromWire(Fingerprint::Reader in) { return {in.getHigh(), in.getLow()}; }

void ToWire(const hone::Metrics& metrics, Metrics::Builder out) {
  out.setOpCount(metrics.op_count);
  out.setFlops(metrics.flops);
  out.setTranscendentals(metrics.transcendentals);
  out.setBytesAccessed(metrics.bytes_accessed);
  out.setPeakMemory(metrics.peak_memory);
  out.setComputations(metrics.computations);
  out.setLoopDepth(metrics.loop_depth);
  out.setKernels(metrics.kernels);
  out.setEstimatedSeconds(metrics.estimated_seconds);
}

hone::Metrics FromWire(Metrics::Reader in) {
  return {in.getOpCount(),    in.getFlops(),        in.getTranscendentals(), in.getBytesAccessed(),
          in.getPeakMemory(), in.getComputations(), in.getLoopDepth(),       in.getKernels(),
          in.getEstimatedSeconds()};
}

void ToWire(const hone::PassInfo& pass, PassInfo::Builder out) {
  out.setName(pass.name);
  out.setClassName(pass.class_name);
  out.setMeaning(pass.meaning);
  out.setGroup(static_cast<uint8_t>(pass.group));
  out.setOptions(pass.options);
  out.setSimplify(pass.simplify);
  out.setKind(static_cast<uint8_t>(pass.kind));
}

hone::PassInfo FromWire(PassInfo::Reader in) {
  return {in.getName().cStr(),
          in.getClassName().cStr(),
          in.getMeaning().cStr(),
          static_cast<PassGroup>(in.getGroup()),
          in.getOptions().cStr(),
          in.getSimplify(),
          static_cast<PassKind>(in.getKind())};
}

void ToWire(const hone::ProgramInfo& program, ProgramInfo::Builder out) {
  out.setId(program.id);
  ToWire(program.fingerprint, out.initFingerprint());
  out.setName(program.name);
  out.setFormat(program.format);
  ToWire(program.metrics, out.initMetrics());
  out.setElidedConstants(program.elided_constants);
  out.setStandInConstants(program.stand_in_constants);
  ToWire(program.opcodes, out.initOpcodes(Size(program.opcodes.size())));
}

hone::ProgramInfo FromWire(ProgramInfo::Reader in) {
  return {in.getId(),
          FromWire(in.getFingerprint()),
          in.getName().cStr(),
          in.getFormat().cStr(),
          FromWire(in.getMetrics()),
          in.getElidedConstants(),
          in.getStandInConstants(),
          FromWire(in.getOpcodes())};
}

void ToWire(const hone::StockPass& pass, StockPass::Builder out) {
  out.setName(pass.name);
  out.setPipeline(pass.pipeline);
  out.setChanged(pass.changed);
}

hone::StockPass FromWire(StockPass::Reader in) {
  return {in.getName().cStr(), in.getPipeline().cStr(), in.getChanged()};
}

void ToWire(const hone::ApplyOptions& options, ApplyOptions::Builder out) {
  out.setCost(options.cost);
  out.setPeakMemory(options.peak_memory);
  out.setFresh(options.fresh);
  out.setVerify(options.verify);
  out.setOpcodes(options.opcodes);
  out.setEpisode(options.episode);
  out.setEstimate(options.estimate);
  out.setKernels(options.kernels);
}

hone::ApplyOptions FromWire(ApplyOptions::Reader in) {
  return {in.getCost(),   in.getPeakMemory(), in.getFresh(),
          in.getVerify(), in.getOpcodes(),    in.getEpisode(), in.getEstimate(),
          in.getKernels()};
}

void ToWire(const hone::KnownFailure& known, KnownFailure::Builder out) {
  ToWire(known.state, out.initState());
  out.setPass(known.pass);
  out.setFailure(known.failure);
  out.setDecisions(known.decisions);
}

hone::KnownFailure FromWire(KnownFailure::Reader in) {
  return {FromWire(in.getState()), in.getPass(), in.getFailure().cStr(), in.getDecisions()};
}

void ToWire(const hone::Decisions& decisions, Decisions::Builder out) {
  out.setOtherwise(static_cast<uint8_t>(decisions.otherwise));
  out.setSeed(decisions.seed);
  auto keys = out.initKeys(Size(decisions.choices.size()));
  auto accept = out.initAccept(Size(decisions.choices.size()));
  for (unsigned i = 0; i < keys.size(); ++i) {
    keys.set(i, decisions.choices[i].key);
    accept.set(i, decisions.choices[i].accept);
  }
}

hone::Decisions FromWire(Decisions::Reader in) {
  hone::Decisions decisions;
  decisions.otherwise =
      static_cast<Otherwise>(std::min<size_t>(in.getOtherwise(), std::size(kOtherwiseNames) - 1));
  decisions.seed = in.getSeed();
  const auto keys = in.getKeys();
  const auto accept = in.getAccept();
  for (unsigned i = 0; i < keys.size() && i < accept.size(); ++i) {
    decisions.choices.push_back({keys[i], accept[i]});
  }
  return decisions;
}

void ToWire(const hone::RewriteSite& site, RewriteSite::Builder out) {
  out.setPlace(site.place);
  out.setContent(site.content);
  out.setKind(static_cast<uint8_t>(site.kind));
  out.setStatus(static_cast<uint8_t>(site.status));
  out.setComputation(site.computation);
  out.setInstruction(site.instruction);
  out.setOpcode(site.opcode);
  out.setOriginal(site.original);
  out.setReplacement(site.replacement);
  out.setReason(site.reason);
  out.setDeltaOpCount(site.delta_op_count);
  out.setDeltaFlops(site.delta_flops);
  out.setDeltaBytes(site.delta_bytes);
}

hone::RewriteSite FromWire(RewriteSite::Reader in) {
  hone::RewriteSite site;
  site.place = in.getPlace();
  site.content = in.getContent();
  site.kind = static_cast<RewriteKind>(in.getKind());
  site.status = static_cast<SiteStatus>(in.getStatus());
  site.computation = in.getComputation().cStr();
  site.instruction = in.getInstruction().cStr();
  site.opcode = in.getOpcode().cStr();
  site.original = in.getOriginal().cStr();
  site.replacement = in.getReplacement().cStr();
  site.reason = in.getReason().cStr();
  site.delta_op_count = in.getDeltaOpCount();
  site.delta_flops = in.getDeltaFlops();
  site.delta_bytes = in.getDeltaBytes();
  return site;
}

void ToWire(const hone::RewritesOptions& options, RewritesOptions::Builder out) {
  out.setTexts(options.texts);
  out.setEffects(options.effects);
  out.setTimePass(options.time_pass);
  out.setWhole(options.whole);
}

hone::RewritesOptions FromWire(RewritesOptions::Reader in) {
  return {in.getTexts(), in.getEffects(), in.getTimePass(), in.getWhole()};
}

void ToWire(const hone::Rewrites& rewrites, Rewrites::Builder out) {
  ToWire(rewrites.state, out.initState());
  out.setSeparable(rewrites.separable);
  auto sites = out.initSites(Size(rewrites.sites.size()));
  for (unsigned i = 0; i < sites.size(); ++i) ToWire(rewrites.sites[i], sites[i]);
  auto conflicts = out.initConflicts(Size(rewrites.conflicts.size()));
  for (unsigned i = 0; i < conflicts.size(); ++i) {
    conflicts.set(i, uint64_t{rewrites.conflicts[i].first} << 32 | rewrites.conflicts[i].second);
  }
  out.setPassSeconds(rewrites.pass_seconds);
  out.setDrySeconds(rewrites.dry_seconds);
  out.setListSeconds(rewrites.list_seconds);
}

hone::Rewrites FromWire(Rewrites::Reader in) {
  hone::Rewrites rewrites;
  rewrites.state = FromWire(in.getState());
  rewrites.separable = in.getSeparable();
  for (RewriteSite::Reader site : in.getSites()) rewrites.sites.push_back(FromWire(site));
  for (uint64_t pair : in.getConflicts()) {
    rewrites.conflicts.push_back({static_cast<uint32_t>(pair >> 32), static_cast<uint32_t>(pair)});
  }
  rewrites.pass_seconds = in.getPassSeconds();
  rewrites.dry_seconds = in.getDrySeconds();
  rewrites.list_seconds = in.getListSeconds();
  return rewrites;
}

void ToWire(const hone::StateName& state, StateName::Builder out) {
  out.setProgram(state.program);
  auto links = out.initLinks(Size(state.links.size()));
  for (unsigned i = 0; i < links.size(); ++i) {
    links[i].setPass(state.links[i].pass);
    ToWire(state.links[i].state, links[i].initState());
    if (state.links[i].decisions != nullptr) {
      ToWire(*state.links[i].decisions, links[i].initDecisions());
    }
  }
}

hone::StateName FromWire(StateName::Reader in) {
  hone::StateName state;
  state.program = in.getProgram();
  for (Link::Reader link : in.getLinks()) {
    DecisionsPtr decisions;
    if (link.hasDecisions()) {
      decisions = std::make_shared<const hone::Decisions>(FromWire(link.getDecisions()));
    }
    state.links.push_back({link.getPass(), FromWire(link.getState()), std::move(decisions)});
  }
  return state;
}

void ToWire(const hone::Step& step, Step::Builder out) {
  out.setPass(step.pass);
  out.setChanged(step.changed);
  ToWire(step.state, out.initState());
  ToWire(step.metrics, out.initMetrics());
  out.setLooked(step.looked);
  if (!step.failure.empty()) out.setFailure(step.failure);
  if (!step.opcodes.empty()) ToWire(step.opcodes, out.initOpcodes(Size(step.opcodes.size())));
}

hone::Step FromWire(Step::Reader in) {
  hone::Step step;
  step.pass = in.getPass();
  step.changed = in.getChanged();
  step.state = FromWire(in.getState());
  step.metrics = FromWire(in.getMetrics());
  step.looked = in.getLooked();
  step.failure = in.getFailure().cStr();
  step.opcodes = FromWire(in.getOpcodes());
  return step;
}

void ToWire(const hone::ProgramGraph& graph, ProgramGraph::Builder out) {
  out.setName(graph.name);
  auto computations = out.initComputations(Size(graph.computations.size()));
  for (unsigned i = 0; i < computations.size(); ++i) {
    const ComputationInfo& computation = graph.computations[i];
    computations[i].setName(computation.name);
    computations[i].setRoot(computation.root);
    auto instructions = computations[i].initInstructions(Size(computation.instructions.size()));
    for (unsigned j = 0; j < instructions.size(); ++j) {
      ToWire(computation.instructions[j], instructions[j]);
    }
  }
}

hone::ProgramGraph FromWire(ProgramGraph::Reader in) {
  hone::ProgramGraph graph;
  graph.name = in.getName().cStr();
  for (Computation::Reader computation : in.getComputations()) {
    ComputationInfo& out = graph.computations.emplace_back();
    out.name = computation.getName().cStr();
    out.root = computation.getRoot();
    for (Instruction::Reader instruction : computation.getInstructions()) {
      out.instructions.push_back(FromWire(instruction));
    }
  }
  return graph;
}

void ToWire(const hone::ProgramArrays& arrays, ProgramArrays::Builder out) {
  out.setOpcode(Bytes(arrays.opcode));
  out.setType(Bytes(arrays.type));
  out.setRank(Bytes(arrays.rank));
  out.setComputation(Bytes(arrays.computation));
  out.setDimensions(Bytes(arrays.dimensions));
  out.setFlops(Bytes(arrays.flops));
  out.setBytes(Bytes(arrays.bytes));
  out.setEdgeStart(Bytes(arrays.edge_start));
  out.setEdgeSource(Bytes(arrays.edge_source));
  out.setEdgeKind(Bytes(arrays.edge_kind));
}

hone::ProgramArrays FromWire(ProgramArrays::Reader in) {
  hone::ProgramArrays arrays;
  FromBytes(in.getOpcode(), arrays.opcode);
  FromBytes(in.getType(), arrays.type);
  FromBytes(in.getRank(), arrays.rank);
  FromBytes(in.getComputation(), arrays.computation);
  FromBytes(in.getDimensions(), arrays.dimensions);
  FromBytes(in.getFlops(), arrays.flops);
  FromBytes(in.getBytes(), arrays.bytes);
  FromBytes(in.getEdgeStart(), arrays.edge_start);
  FromBytes(in.getEdgeSource(), arrays.edge_source);
  FromBytes(in.getEdgeKind(), arrays.edge_kind);
  return arrays;
}

}  // namespace hone::wire
