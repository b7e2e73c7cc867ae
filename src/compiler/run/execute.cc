#include "compiler/run/execute.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "compiler/kernels/kernels.h"
#include "compiler/run/executables.h"
#include "compiler/run/flags.h"
#include "compiler/run/optimised.h"
#include "compiler/sites/before_code.h"
#include "compiler/sites/keys.h"
#include "xla/hlo/builder/xla_computation.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/layout_util.h"
#include "xla/pjrt/pjrt_client.h"
#include "xla/pjrt/pjrt_executable.h"
#include "xla/pjrt/plugin/xla_cpu/xla_cpu_pjrt_client.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// In words, why this instruction cannot be run alone and repeatably; empty where it can.
std::string WhyNot(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAllGather:
    case HloOpcode::kAllGatherStart:
    case HloOpcode::kAllReduce:
    case HloOpcode::kAllReduceStart:
    case HloOpcode::kAllToAll:
    case HloOpcode::kCollectiveBroadcast:
    case HloOpcode::kCollectivePermute:
    case HloOpcode::kCollectivePermuteStart:
    case HloOpcode::kRaggedAllToAll:
    case HloOpcode::kReduceScatter:
      return "is a collective";
    case HloOpcode::kInfeed:
    case HloOpcode::kOutfeed:
    case HloOpcode::kSend:
    case HloOpcode::kSendDone:
    case HloOpcode::kRecv:
    case HloOpcode::kRecvDone:
      return "talks to the host or another device";
    case HloOpcode::kRng:
    case HloOpcode::kRngGetAndUpdateState:
      return "draws from a hidden random state, so two runs differ anyway";
    default:
      return "";
  }
}

bool AllStaticArrays(const xla::Shape& shape) {
  bool all = true;
  xla::ShapeUtil::ForEachLeafShape(shape, [&](const xla::Shape& leaf, const xla::ShapeIndex&) {
    all = all && leaf.IsArray() && leaf.is_static();
  });
  return all;
}

// `source` taken apart: its leaves in flattened order.
void Leaves(HloInstruction* source, xla::HloComputation::Builder* builder,
            std::vector<HloInstruction*>* leaves) {
  if (!source->shape().IsTuple()) {
    leaves->push_back(source);
    return;
  }
  const int64_t parts = source->shape().tuple_shapes().size();
  for (int64_t k = 0; k < parts; ++k) {
    Leaves(builder->AddInstruction(HloInstruction::CreateGetTupleElement(source, k)), builder,
           leaves);
  }
}

// A value of `shape` put together from new entry parameters.
HloInstruction* FromParameters(const xla::Shape& shape, xla::HloComputation::Builder* builder,
                               int64_t* next) {
  if (!shape.IsTuple()) {
    const int64_t number = (*next)++;
    return builder->AddInstruction(
        HloInstruction::CreateParameter(number, shape, absl::StrCat("leaf_", number)));
  }
  std::vector<HloInstruction*> parts;
  for (const xla::Shape& part : shape.tuple_shapes()) {
    parts.push_back(FromParameters(part, builder, next));
  }
  return builder->AddInstruction(HloInstruction::CreateTuple(parts));
}

// PJRT wants arrays as parameters and no tuple within the result: where the entry has them, a new
// entry calls the old one.
void FlattenEntry(xla::HloModule* module) {
  xla::HloComputation* entry = module->entry_computation();
  bool flat = true;
  for (const HloInstruction* parameter : entry->parameter_instructions()) {
    flat = flat && !parameter->shape().IsTuple();
  }
  const xla::Shape result = entry->root_instruction()->shape();
  if (result.IsTuple()) {
    for (const xla::Shape& part : result.tuple_shapes()) flat = flat && !part.IsTuple();
  }
  if (flat) return;
  xla::HloComputation::Builder builder("flat_entry");
  int64_t next = 0;
  std::vector<HloInstruction*> arguments;
  for (const HloInstruction* parameter : entry->parameter_instructions()) {
    arguments.push_back(FromParameters(parameter->shape(), &builder, &next));
  }
  HloInstruction* call =
      builder.AddInstruction(HloInstruction::CreateCall(result, arguments, entry));
  std::vector<HloInstruction*> leaves;
  Leaves(call, &builder, &leaves);
  builder.AddInstruction(HloInstruction::CreateTuple(leaves));
  module->ReplaceEntryComputation(module->AddEmbeddedComputation(builder.Build()));
}

// XLA:CPU assigns layouts before it fuses, and aborts at fusions that are there already: a program
// that was fused before is taken apart again.
void TakeFusionsApart(xla::HloModule* module) {
  std::vector<HloInstruction*> fusions;
  for (xla::HloComputation* computation : module->MakeNonfusionComputations()) {
    absl::c_copy_if(computation->instructions(), std::back_inserter(fusions),
                    [](const HloInstruction* instruction) {
                      return instruction->opcode() == xla::HloOpcode::kFusion;
                    });
  }
  if (fusions.empty()) return;
  module->clear_schedule();  // names what is gone then
  for (HloInstruction* fusion : fusions) fusion->Defuse().IgnoreError();
}

std::unique_ptr<xla::HloModule> Flattened(const xla::HloModule& module) {
  std::unique_ptr<xla::HloModule> flat = module.Clone("");
  TakeFusionsApart(flat.get());
  FlattenEntry(flat.get());
  return flat;
}

// Without what would let a run take its arguments' place, and without the number that tells this
// copy from others.
xla::HloModuleProto ToCompile(const xla::HloModule& flat) {
  xla::HloModuleProto proto = flat.ToProto();
  proto.clear_input_output_alias();
  proto.clear_buffer_donor();
  proto.clear_schedule();
  proto.clear_id();
  return proto;
}

bool IsRowMajor(const xla::Shape& shape) {
  return xla::LayoutUtil::IsMonotonicWithDim0Major(shape.layout());
}

// Has the entry of a module that FlattenEntry has seen laid out as decided; the parameters, none
// where all are row-major.
std::vector<xla::Shape> LayOutEntry(const xla::HloModule& module, CompileDecider& decider,
                                    xla::CompileOptions* options) {
  std::vector<xla::Shape> parameters;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    parameters.push_back(parameter->shape());
  }
  const xla::Shape& result = module.entry_computation()->root_instruction()->shape();
  parameters = decider.EntryLayouts(parameters, /*results=*/false);
  const std::vector<xla::Shape> results = decider.EntryLayouts(
      result.IsTuple() ? result.tuple_shapes() : std::vector<xla::Shape>{result}, true);
  if (!absl::c_all_of(results, IsRowMajor)) {
    options->executable_build_options.set_result_layout(
        result.IsTuple() ? xla::ShapeUtil::MakeTupleShape(results) : results[0]);
  }
  if (absl::c_all_of(parameters, IsRowMajor)) return {};
  options->argument_layouts = parameters;
  return parameters;
}

// What only XLA reads, as something that others read too, with the type's own spacing.
verify::ElementType Widened(xla::Literal* array) {
  const xla::PrimitiveType from = array->shape().element_type();
  xla::PrimitiveType to = xla::F32;
  if (xla::primitive_util::IsIntegralType(from)) {
    to = xla::primitive_util::IsSignedIntegralType(from) ? xla::S8 : xla::U8;
  }
  verify::ElementType type =
      *verify::FindElementType(xla::primitive_util::LowercasePrimitiveTypeName(to));
  type.name = xla::primitive_util::LowercasePrimitiveTypeName(from);
  if (to == xla::F32) type.mantissa_bits = xla::primitive_util::SignificandWidth(from) - 1;
  if (auto wide = array->Convert(to); wide.ok()) *array = *std::move(wide);
  return type;
}

// What views of results point to.
class HeldResults {
 public:
  absl::StatusOr<verify::ArrayView> Hold(std::shared_ptr<xla::PjRtBuffer> buffer) {
    const xla::Shape& shape = buffer->on_device_shape();
    const verify::ElementType* const type = verify::FindElementType(
        xla::primitive_util::LowercasePrimitiveTypeName(shape.element_type()));
    verify::ArrayView view;
    view.dimensions.assign(shape.dimensions().begin(), shape.dimensions().end());
    view.elements = xla::ShapeUtil::ElementsIn(shape);
    if (type != nullptr && IsRowMajor(shape)) {
      const absl::Status ready = buffer->GetReadyFuture().Await();
      if (!ready.ok()) return ready;
      auto reference = buffer->AcquireExternalReference();
      if (!reference.ok()) return reference.status();
      view.type = *type;
      view.data = (*reference)->OpaqueDeviceMemoryDataPointer();
      held_.push_back({std::move(buffer), *std::move(reference)});
      return view;
    }
    absl::StatusOr<xla::Literal> literal = xla::Literal::Make(shape);
    if (!literal.ok()) return literal.status();
    absl::Status status = buffer->ToLiteral(&*literal).Await();
    if (!status.ok()) return status;
    if (!IsRowMajor(shape)) {
      literal = literal->Relayout(xla::LayoutUtil::GetDefaultLayoutForShape(shape));
    }
    view.type = type != nullptr ? *type : Widened(&*literal);
    copies_.push_back(*std::move(literal));
    view.data = copies_.back().untyped_data();
    return view;
  }

 private:
  struct Held {
    std::shared_ptr<xla::PjRtBuffer> buffer;
    std::unique_ptr<xla::PjRtBuffer::ExternalReference> reference;
  };
  std::vector<Held> held_;
  std::deque<xla::Literal> copies_;
};

}  // namespace

std::optional<std::string> WhyNotRunnable(const xla::HloModule& module) {
  if (module.config().num_partitions() > 1 || module.config().replica_count() > 1) {
    return absl::StrCat("module ", module.name(), " is for ", module.config().num_partitions(),
                        " partitions and ", module.config().replica_count(),
                        " replicas; one device is compared");
  }
  for (const xla::HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      const std::string why = WhyNot(*instruction);
      if (!why.empty()) {
        return absl::StrCat(xla::HloOpcodeString(instruction->opcode()), " (", instruction->name(),
                            ") ", why);
      }
    }
  }
  const xla::HloComputation* entry = module.entry_computation();
  for (const HloInstruction* parameter : entry->parameter_instructions()) {
    if (!AllStaticArrays(parameter->shape())) {
      return absl::StrCat("parameter ", parameter->parameter_number(), " of shape ",
                          parameter->shape().ToString(), " is not made of arrays of fixed size");
    }
  }
  if (!AllStaticArrays(entry->root_instruction()->shape())) {
    return absl::StrCat("result ", entry->root_instruction()->name(),
                        " is not made of arrays of fixed size");
  }
  return std::nullopt;
}

int64_t ArgumentAndResultBytes(const xla::HloModule& module) {
  int64_t bytes = 0;
  const auto add = [&](const xla::Shape& leaf, const xla::ShapeIndex&) {
    if (leaf.IsArray()) bytes += xla::ShapeUtil::ByteSizeOfElements(leaf);
  };
  const xla::HloComputation* entry = module.entry_computation();
  for (const HloInstruction* parameter : entry->parameter_instructions()) {
    xla::ShapeUtil::ForEachLeafShape(parameter->shape(), add);
  }
  xla::ShapeUtil::ForEachLeafShape(entry->root_instruction()->shape(), add);
  return bytes;
}

absl::StatusOr<xla::PjRtClient*> CpuClient() {
  static absl::StatusOr<std::unique_ptr<xla::PjRtClient>>* const client = [] {
    xla::CpuClientOptions options;
    options.asynchronous = false;
    options.cpu_device_count = 1;
    return new absl::StatusOr<std::unique_ptr<xla::PjRtClient>>(xla::GetXlaPjrtCpuClient(options));
  }();
  if (!client->ok()) return client->status();
  return (*client)->get();
}

absl::StatusOr<Program> Program::Compile(const xla::HloModule& module, CodeQuality quality,
                                         CompileDecider* decider, const CompilePlan& plan) {
  absl::StatusOr<xla::PjRtClient*> client = CpuClient();
  if (!client.ok()) return client.status();
  const std::unique_ptr<xla::HloModule> flat = Flattened(module);
  xla::HloModuleProto proto = ToCompile(*flat);
  xla::CompileOptions options;
  if (quality != CodeQuality::kStock) {
    options.executable_build_options.mutable_debug_options()->set_xla_backend_optimization_level(1);
  }
  if (!plan.flags.empty()) {
    xla::DebugOptions* const flags = options.executable_build_options.mutable_debug_options();
    if (Status set = SetFlags(plan.flags, flags); !set) {
      return absl::InvalidArgumentError(set.error().message);
    }
  }
  SetWhatItNeeds(*flat, options.executable_build_options.mutable_debug_options());
  std::optional<CompileDecider> own;
  if (decider == nullptr && !plan.choices.empty()) decider = &own.emplace(plan);
  std::optional<ScopedPipelineObserver> observed;
  std::vector<xla::Shape> parameters;
  if (decider != nullptr) {
    observed.emplace(decider);
    parameters = LayOutEntry(*flat, *decider, &options);
  }
  // A noisy copy is compiled once, and never ended: naming it would be for nothing.
  std::optional<Fingerprint> key;
  if (quality != CodeQuality::kNoise) {
    key = ExecutableKey(proto, static_cast<uint64_t>(quality), plan);
  }
  const size_t bytes = proto.ByteSizeLong();
  const bool lists = decider != nullptr && decider->lists_sites();
  if (const auto known = key && !lists ? FindExecutable(*key) : std::nullopt) {
    if (decider != nullptr) decider->Recall(known->applied, known->hidden);
    return Program(known->executable, std::move(parameters), known->optimised);
  }
  OptimisedModule optimised;
  if (key && !lists) optimised = TakeOptimised(*key);
  if (decider != nullptr && optimised.module != nullptr) {
    decider->Recall(optimised.applied, optimised.hidden);
  }
  ScopedPasses passes(std::move(optimised.module), /*to_be_named=*/quality != CodeQuality::kNoise);
  // Of plans that decide much there are many, and each is compiled once.
  std::optional<StoredPasses> stored, to_store;
  if (key && plan.choices.empty() && SharesOptimised()) {
    const bool is_looked_at = lists || IsLookedAtBeforeCode();
    if (!is_looked_at && passes.known == nullptr) stored = FindPasses(*key);
    if (stored) {
      if (decider != nullptr) decider->Recall(stored->applied, stored->hidden);
      passes.make_known = [&](const xla::HloModuleConfig& config) {
        return ModuleOf(*stored, config);
      };
    }
    passes.made = [&](const xla::HloModule& made) { made.ToProto(&to_store.emplace().module); };
  }
  const RememberKernels remember(Mix(KernelFlags(plan).Hash(), static_cast<uint64_t>(quality)));
  absl::StatusOr<std::unique_ptr<xla::PjRtLoadedExecutable>> executable =
      (*client)->CompileAndLoad(xla::XlaComputation(std::move(proto)), options);
  const uint64_t applied = decider != nullptr ? decider->applied() : 0;
  const uint64_t hidden = decider != nullptr ? decider->hidden() : 0;
  if (passes.ended != nullptr && key) {
    KeepOptimised(*key, {std::move(passes.ended), applied, hidden}, bytes);
  }
  if (!executable.ok()) return executable.status();
  if (to_store) {
    to_store->fingerprint = passes.fingerprint;
    to_store->applied = applied;
    to_store->hidden = hidden;
    StorePasses(*key, *to_store);
  }
  std::shared_ptr<xla::PjRtLoadedExecutable> made = *std::move(executable);
  if (key && quality == CodeQuality::kStock) {
    const int64_t code = std::max<int64_t>(0, made->SizeOfGeneratedCodeInBytes());
    KeepExecutable(*key, {made, applied, hidden, passes.fingerprint},
                   bytes + static_cast<size_t>(code));
  }
  return Program(std::move(made), std::move(parameters), passes.fingerprint);
}

absl::StatusOr<Program> Program::CompileOptimised(const xla::HloModule& optimised,
                                                  CodeQuality quality) {
  absl::StatusOr<xla::PjRtClient*> client = CpuClient();
  if (!client.ok()) return client.status();
  xla::CompileOptions options;
  xla::DebugOptions* const flags = options.executable_build_options.mutable_debug_options();
  flags->set_xla_disable_all_hlo_passes(true);
  if (quality != CodeQuality::kStock) flags->set_xla_backend_optimization_level(1);
  // The passes would have packed what is narrower than a byte.
  const xla::ComputationLayout& layout = optimised.entry_computation_layout();
  options.argument_layouts.emplace();
  for (int k = 0; k < layout.parameter_count(); ++k) {
    options.argument_layouts->push_back(layout.parameter_shape(k));
  }
  options.executable_build_options.set_result_layout(layout.result_shape());
  const RememberKernels remember(
      Mix(KernelFlags(CompilePlan()).Hash(), static_cast<uint64_t>(quality)));
  auto executable = (*client)->CompileAndLoad(xla::XlaComputation(ToCompile(optimised)), options);
  if (!executable.ok()) return executable.status();
  return Program(std::shared_ptr<xla::PjRtLoadedExecutable>(*std::move(executable)), {}, {});
}

bool Program::IsCompiled(const xla::HloModule& module, const CompilePlan& plan) {
  const auto key = ExecutableKey(ToCompile(*Flattened(module)),
                                 static_cast<uint64_t>(CodeQuality::kStock), plan);
  return key && FindExecutable(*key).has_value();
}

int64_t Program::InstructionCount() const {
  const auto modules = executable_->GetHloModules();
  if (!modules.ok() || modules->empty()) return -1;
  return modules->front()->instruction_count();
}

absl::StatusOr<DeviceArrays> Program::Execute(const DeviceArrays& arguments) const {
  std::vector<xla::PjRtBuffer*> handles;
  for (const auto& argument : arguments) handles.push_back(argument.get());
  xla::ExecuteOptions options;
  options.execution_mode = xla::ExecuteOptions::ExecutionMode::kSynchronous;
  std::vector<std::vector<xla::PjRtBuffer*>> one_device = {handles};
  auto results = executable_->Execute(one_device, options);
  if (!results.ok()) return results.status();
  return DeviceArrays(std::make_move_iterator(results->front().begin()),
                      std::make_move_iterator(results->front().end()));
}

absl::StatusOr<std::shared_ptr<xla::HloModule>> Program::Optimised() const {
  auto modules = executable_->GetHloModules();
  if (!modules.ok()) return modules.status();
  if (modules->empty()) return absl::NotFoundError("the executable does not tell its module");
  return modules->front();
}

absl::StatusOr<DeviceArrays> Program::Place(const Arrays& arrays) const {
  absl::StatusOr<xla::PjRtClient*> client = CpuClient();
  if (!client.ok()) return client.status();
  absl::StatusOr<xla::PjRtMemorySpace*> memory =
      (*client)->addressable_devices()[0]->default_memory_space();
  if (!memory.ok()) return memory.status();
  DeviceArrays buffers;
  for (size_t i = 0; i < arrays.size(); ++i) {
    // The client takes bytes as they lie, whatever the layout.
    const bool as_is = parameters_.empty() || IsRowMajor(parameters_[i]);
    xla::Literal laid_out;
    if (!as_is) laid_out = arrays[i].Relayout(parameters_[i]);
    const xla::Literal& array = as_is ? arrays[i] : laid_out;
    using Semantics = xla::PjRtClient::HostBufferSemantics;
    auto buffer = (*client)->BufferFromHostBuffer(
        array.untyped_data(), array.shape().element_type(), array.shape().dimensions(),
        /*byte_strides=*/std::nullopt,
        as_is ? Semantics::kImmutableZeroCopy : Semantics::kImmutableOnlyDuringCall,
        /*on_done_with_host_buffer=*/nullptr, *memory, as_is ? nullptr : &array.shape().layout());
    if (!buffer.ok()) return buffer.status();
    buffers.push_back(*std::move(buffer));
  }
  return buffers;
}

absl::Status Program::RunAndDrop(const DeviceArrays& arguments) const {
  absl::StatusOr<DeviceArrays> results = Execute(arguments);
  if (!results.ok()) return results.status();
  for (const std::shared_ptr<xla::PjRtBuffer>& buffer : *results) {
    const absl::Status status = buffer->GetReadyFuture().Await();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<verify::Outputs> Program::Run(const DeviceArrays& arguments) const {
  auto held = std::make_shared<HeldResults>();
  absl::StatusOr<DeviceArrays> results = Execute(arguments);
  if (!results.ok()) return results.status();
  verify::Outputs outputs;
  for (std::shared_ptr<xla::PjRtBuffer>& buffer : *results) {
    absl::StatusOr<verify::ArrayView> view = held->Hold(std::move(buffer));
    if (!view.ok()) return view.status();
    outputs.arrays.push_back(*std::move(view));
  }
  outputs.owner = std::move(held);
  return outputs;
}

}  // namespace hone::compiler
