#include "memory/machine.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "memory/machines.h"

namespace hone::memory {

namespace {

using Json = nlohmann::ordered_json;

class Reader {
 public:
  Reader(const Json& json, std::string origin) : json_(json), origin_(std::move(origin)) {}

  void Text(const char* field, std::string& value) {
    if (const Json* found = Find(field)) {
      if (!found->is_string()) return Complain(field, "must be a text");
      value = found->get<std::string>();
    }
  }
  void Texts(const char* field, std::vector<std::string>& values) {
    const Json* found = Find(field);
    if (found == nullptr) return;
    if (!found->is_array()) return Complain(field, "must be a list of texts");
    for (const Json& value : *found) {
      if (!value.is_string()) return Complain(field, "must be a list of texts");
      values.push_back(value.get<std::string>());
    }
  }
  void Count(const char* field, int64_t& value, int64_t least, int64_t most) {
    const Json* found = Find(field);
    if (found == nullptr) return;
    if (!found->is_number_integer() || found->get<double>() < static_cast<double>(least) ||
        found->get<double>() > static_cast<double>(most)) {
      return Complain(field, fmt::format("must be a whole number from {} to {}", least, most));
    }
    value = found->get<int64_t>();
  }
  void Rate(const char* field, double& value, bool zero_is_fine) {
    const Json* found = Find(field);
    if (found == nullptr) return;
    if (!found->is_number() || !std::isfinite(found->get<double>()) || found->get<double>() < 0 ||
        (found->get<double>() == 0 && !zero_is_fine)) {
      return Complain(field, zero_is_fine ? "must be 0 or more" : "must be more than 0");
    }
    value = found->get<double>();
  }
  void Flag(const char* field, bool& value) {
    if (const Json* found = Find(field)) {
      if (!found->is_boolean()) return Complain(field, "must be true or false");
      value = found->get<bool>();
    }
  }
  void Require(std::initializer_list<const char*> fields) {
    for (const char* field : fields) {
      if (!json_.contains(field)) Complain(field, "is missing");
    }
  }
  void NothingElse() {
    for (const auto& [key, value] : json_.items()) {
      if (!known_.contains(key)) Complain(key, "is not a field of a machine");
    }
  }
  void Complain(const std::string& field, const std::string& what) {
    if (complaint_.empty()) complaint_ = origin_ + ": '" + field + "' " + what;
  }
  const std::string& complaint() const { return complaint_; }

 private:
  const Json* Find(const char* field) {
    known_.insert(field);
    const auto found = json_.find(field);
    return found == json_.end() ? nullptr : &*found;
  }

  const Json& json_;
  const std::string origin_;
  std::set<std::string> known_;
  std::string complaint_;
};

}  // namespace

StatusOr<Machine> ParseMachine(std::string_view text, const std::string& origin) {
  const auto fail = [](const std::string& message) {
    return MakeError(ErrorCode::kInvalidInput, message);
  };
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return fail(origin +
                ": not a JSON object; `hone memory machines --json` shows what one looks like");
  }
  Machine machine;
  Reader reader(json, origin);
  constexpr int64_t kMost = int64_t{1} << 50;
  reader.Require({"name", "bytes_per_partition", "dram_bytes", "dram_bytes_per_second",
                  "flops_per_second", "vector_elements_per_second"});
  reader.Text("name", machine.name);
  reader.Text("meaning", machine.meaning);
  reader.Texts("sources", machine.sources);
  reader.Texts("assumptions", machine.assumptions);
  reader.Count("partitions", machine.partitions, 1, 65536);
  reader.Count("bytes_per_partition", machine.bytes_per_partition, 64, kMost);
  reader.Count("alignment", machine.alignment, 1, 4096);
  reader.Count("accumulator_bytes_per_partition", machine.accumulator_bytes_per_partition, 0,
               kMost);
  reader.Count("dram_bytes", machine.dram_bytes, 1, kMost);
  reader.Rate("dram_bytes_per_second", machine.dram_bytes_per_second, false);
  reader.Rate("transfer_latency_seconds", machine.transfer_latency_seconds, true);
  reader.Count("efficient_transfer_bytes", machine.efficient_transfer_bytes, 1, 1 << 30);
  reader.Rate("flops_per_second", machine.flops_per_second, false);
  reader.Rate("vector_elements_per_second", machine.vector_elements_per_second, false);
  reader.Rate("instruction_seconds", machine.instruction_seconds, true);
  reader.Flag("engines_are_partitioned", machine.engines_are_partitioned);
  reader.NothingElse();
  if (machine.partitions > 1 && !machine.engines_are_partitioned) {
    reader.Complain("engines_are_partitioned", "must be true where there are several partitions");
  }
  if (machine.dram_bytes < machine.ScratchpadBytes()) {
    reader.Complain("dram_bytes", "is less than the scratchpad has");
  }
  if (!reader.complaint().empty()) return fail(reader.complaint());
  return machine;
}

const std::vector<Machine>& Machines() {
  static const std::vector<Machine> machines = [] {
    std::vector<Machine> all;
    for (const auto& [name, text] : EmbeddedMachines()) {
      StatusOr<Machine> machine = ParseMachine(text, name);
      HONE_CHECK(machine && machine->name == name);
      all.push_back(*std::move(machine));
    }
    return all;
  }();
  return machines;
}

StatusOr<Machine> FindMachine(const std::string& name) {
  std::string names;
  for (const Machine& machine : Machines()) {
    if (machine.name == name) return machine;
    names += (names.empty() ? "" : ", ") + machine.name;
  }
  return MakeError(
      ErrorCode::kInvalidInput,
      "there is no machine '" + name + "', and no file of that name; the presets are " + names);
}

std::string ToJson(const Machine& machine) {
  Json json;
  json["name"] = machine.name;
  json["meaning"] = machine.meaning;
  json["sources"] = machine.sources;
  json["assumptions"] = machine.assumptions;
  json["partitions"] = machine.partitions;
  json["bytes_per_partition"] = machine.bytes_per_partition;
  json["alignment"] = machine.alignment;
  json["accumulator_bytes_per_partition"] = machine.accumulator_bytes_per_partition;
  json["dram_bytes"] = machine.dram_bytes;
  json["dram_bytes_per_second"] = machine.dram_bytes_per_second;
  json["transfer_latency_seconds"] = machine.transfer_latency_seconds;
  json["efficient_transfer_bytes"] = machine.efficient_transfer_bytes;
  json["flops_per_second"] = machine.flops_per_second;
  json["vector_elements_per_second"] = machine.vector_elements_per_second;
  json["instruction_seconds"] = machine.instruction_seconds;
  json["engines_are_partitioned"] = machine.engines_are_partitioned;
  return json.dump(2);
}

}  // namespace hone::memory
