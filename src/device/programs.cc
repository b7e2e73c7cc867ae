#include "device/programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "verify/element_types.h"
#include "verify/move_values.h"

namespace hone::device {
namespace {

constexpr size_t kMostModules = 16;
constexpr size_t kMostInputSets = 3;

Status CheckArray(const ShapeInfo& shape, int number) {
  if (verify::FindElementType(shape.type) != nullptr) return {};
  return MakeError(
      ErrorCode::kUnsupported,
      fmt::format("parameter {} is {}, which hone does not bring to devices", number,
                  shape.type == "tuple"   ? "a tuple beside other parameters or in a tuple"
                  : shape.type == "token" ? "a token"
                                          : "an array of " + shape.type));
}

std::string KeyOf(const StateName& state) {
  std::string key;
  for (const Link& link : state.links) {
    key += fmt::format("{}:{} ", link.pass, HashOf(link.decisions));
  }
  return key;
}

}  // namespace

StatusOr<Parameters> ParametersOf(const ProgramGraph& program) {
  std::vector<const InstructionInfo*> given;
  for (const InstructionInfo& instruction : program.computations.back().instructions) {
    if (instruction.parameter >= 0) given.push_back(&instruction);
  }
  std::sort(given.begin(), given.end(),
            [](const auto* a, const auto* b) { return a->parameter < b->parameter; });
  Parameters parameters;
  parameters.tupled = given.size() == 1 && given[0]->shape.type == "tuple";
  if (parameters.tupled) {
    parameters.arrays = given[0]->shape.tuple;
  } else {
    for (const InstructionInfo* parameter : given) parameters.arrays.push_back(parameter->shape);
  }
  for (size_t i = 0; i < parameters.arrays.size(); ++i) {
    if (Status fine = CheckArray(parameters.arrays[i], static_cast<int>(i)); !fine) {
      return tl::unexpected(fine.error());
    }
  }
  return parameters;
}

StatusOr<InputSet> MakeInputs(Pool& pool, const StateName& program, const Parameters& parameters,
                              int kind, uint64_t seed) {
  StatusOr<Evaluation> evaluation = pool.Evaluate(program, {kind, seed});
  if (!evaluation) {
    return MakeError(ErrorCode::kUnsupported,
                     "no inputs for it can be made here: " + evaluation.error().message);
  }
  if (evaluation->parameters.size() != parameters.arrays.size()) {
    return MakeError(ErrorCode::kInternal, "the worker made inputs for other parameters");
  }
  InputSet set;
  set.inputs.name = fmt::format("program {}, kind {}, seed {}", program.program, kind, seed);
  set.cpu_results = std::move(evaluation->results);
  for (size_t i = 0; i < parameters.arrays.size(); ++i) {
    const ShapeInfo& shape = parameters.arrays[i];
    set.inputs.arrays.push_back(
        {shape.type, shape.dimensions, std::move(evaluation->parameters[i])});
  }
  return set;
}

StatusOr<Programs> Programs::Of(Pool& pool, const ProgramInfo& program) {
  const StatusOr<ProgramGraph> graph = pool.Describe({program.id, {}});
  if (!graph) return tl::unexpected(graph.error());
  StatusOr<Parameters> parameters = ParametersOf(*graph);
  if (!parameters) return tl::unexpected(parameters.error());
  return Programs(pool, program, *std::move(parameters));
}

StatusOr<Programs::Module> Programs::Exported(const StateName& state) {
  const std::string key = KeyOf(state);
  if (const auto found = modules_.find(key); found != modules_.end()) return found->second;
  const StatusOr<hone::Exported> exported = pool_->Export(state, ExportFormat::kProto);
  if (!exported) return tl::unexpected(exported.error());
  StatusOr<std::string> module = ModuleOf(exported->bytes);
  if (!module) return tl::unexpected(module.error());
  if (modules_.size() >= kMostModules) {
    // All but the program itself, whose key is empty and which every race needs.
    modules_.erase(modules_.upper_bound(""), modules_.end());
  }
  const Module made{exported->state, std::make_shared<const std::string>(*std::move(module))};
  modules_[key] = made;
  return made;
}

StatusOr<Fingerprint> Programs::StateOf(const StateName& state) {
  const StatusOr<Module> module = Exported(state);
  if (!module) return tl::unexpected(module.error());
  return module->state;
}

StatusOr<DeviceProgram> Programs::Make(const StateName& state, const Flags& flags) {
  const StatusOr<Module> module = Exported(state);
  if (!module) return tl::unexpected(module.error());
  DeviceProgram made;
  made.name = module->state.ToHex();
  for (const auto& [name, value] : flags) made.name += " " + name + "=" + value;
  made.module = module->bytes;
  made.tupled_arguments = parameters_.tupled;
  made.flags = flags;
  return made;
}

StatusOr<InputSet> Programs::Inputs(int kind, uint64_t seed) {
  const std::pair<int, uint64_t> key(kind, seed);
  if (const auto found = inputs_.find(key); found != inputs_.end()) return found->second;
  StatusOr<InputSet> made = MakeInputs(*pool_, program_, parameters_, kind, seed);
  if (!made) return made;
  if (inputs_.size() >= kMostInputSets) inputs_.erase(inputs_.begin());
  inputs_[key] = *made;
  return made;
}

StatusOr<InputSet> Programs::Inputs(const verify::InputChoice& choice,
                                    const CompareOptions& options) {
  if (choice.given < 0) return Inputs(choice.kind, choice.seed);
  const std::vector<std::string>& given = options.given[static_cast<size_t>(choice.given)];
  if (given.size() != parameters_.arrays.size()) {
    return MakeError(ErrorCode::kInvalidInput, "the given inputs are for other parameters");
  }
  InputSet set;
  set.inputs.name = fmt::format("given {}{}", choice.given, choice.near ? "," : "");
  for (size_t i = 0; i < given.size(); ++i) {
    const ShapeInfo& shape = parameters_.arrays[i];
    DeviceArray array{shape.type, shape.dimensions, given[i]};
    if (choice.near) {
      set.inputs.name += fmt::format(" near {}", choice.seed);
      const verify::ElementType& type = *verify::FindElementType(shape.type);
      verify::MoveNearby(type, array.bytes.data(),
                         static_cast<int64_t>(array.bytes.size() / type.bytes), choice.seed + i);
    }
    set.inputs.arrays.push_back(std::move(array));
  }
  return set;
}

}  // namespace hone::device
