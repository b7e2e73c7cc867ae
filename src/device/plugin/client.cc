#include "device/plugin/client.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>

#include "device/pjrt_types.h"

namespace hone::device {
namespace {

std::string TextOf(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue_kString:
      return {value.string_value, value.value_size};
    case PJRT_NamedValue_kInt64:
      return std::to_string(value.int64_value);
    case PJRT_NamedValue_kInt64List: {
      std::string text;
      for (size_t i = 0; i < value.value_size; ++i) {
        text += (i == 0 ? "" : ";") + std::to_string(value.int64_array_value[i]);
      }
      return "[" + text + "]";
    }
    case PJRT_NamedValue_kFloat:
      return std::to_string(value.float_value);
    case PJRT_NamedValue_kBool:
      return value.bool_value ? "true" : "false";
  }
  return "of a type that hone does not know";
}

Attributes AttributesOf(const PJRT_NamedValue* values, size_t count) {
  Attributes attributes;
  for (size_t i = 0; i < count; ++i) {
    attributes.emplace_back(std::string(values[i].name, values[i].name_size), TextOf(values[i]));
  }
  return attributes;
}

// Points into `name` and `value`.
PJRT_NamedValue NamedValue(const std::string& name, const OptionValue& value) {
  auto named = HONE_PJRT_ARGS(PJRT_NamedValue);
  named.name = name.data();
  named.name_size = name.size();
  named.value_size = 1;
  switch (value.kind) {
    case OptionValue::Kind::kText:
      named.type = PJRT_NamedValue_kString;
      named.string_value = value.text.data();
      named.value_size = value.text.size();
      break;
    case OptionValue::Kind::kInteger:
      named.type = PJRT_NamedValue_kInt64;
      named.int64_value = value.integer;
      break;
    case OptionValue::Kind::kIntegers:
      named.type = PJRT_NamedValue_kInt64List;
      named.int64_array_value = value.integers.data();
      named.value_size = value.integers.size();
      break;
    case OptionValue::Kind::kReal:
      named.type = PJRT_NamedValue_kFloat;
      named.float_value = value.real;
      break;
    case OptionValue::Kind::kBoolean:
      named.type = PJRT_NamedValue_kBool;
      named.bool_value = value.boolean;
      break;
  }
  return named;
}

// pjrt_types.cc keeps these numbers without this header.
void CheckElementTypes() {
  HONE_CHECK(PjrtNumber("pred") == PJRT_Buffer_Type_PRED);
  HONE_CHECK(PjrtNumber("s64") == PJRT_Buffer_Type_S64);
  HONE_CHECK(PjrtNumber("u64") == PJRT_Buffer_Type_U64);
  HONE_CHECK(PjrtNumber("f64") == PJRT_Buffer_Type_F64);
  HONE_CHECK(PjrtNumber("bf16") == PJRT_Buffer_Type_BF16);
  HONE_CHECK(PjrtNumber("c128") == PJRT_Buffer_Type_C128);
  HONE_CHECK(PjrtNumber("f8e5m2") == PJRT_Buffer_Type_F8E5M2);
}

tl::unexpected<Error> NoSuch(const char* what) {
  return MakeError(ErrorCode::kInternal, std::string("no such ") + what + " on the device");
}

}  // namespace

Status Client::Open(const DeviceName& name) {
  CheckElementTypes();
  const auto api = LoadPlugin(name.plugin);
  if (!api) return tl::unexpected(api.error());
  api_ = *api;
  info_.api_major = api_->pjrt_api_version.major_version;
  info_.api_minor = api_->pjrt_api_version.minor_version;
  if (HONE_PJRT_HAS(api_, PJRT_Plugin_Attributes)) {
    auto attributes = HONE_PJRT_ARGS(PJRT_Plugin_Attributes_Args);
    if (const Status asked = Check(api_->PJRT_Plugin_Attributes(&attributes), "attributes")) {
      info_.attributes = AttributesOf(attributes.attributes, attributes.num_attributes);
    }
  }
  if (Status created = Create(name); !created) return created;
  if (Status described = Describe(); !described) return described;
  const auto devices = Devices();
  if (!devices) return tl::unexpected(devices.error());
  if (name.device >= devices->size()) {
    return MakeError(ErrorCode::kInvalidInput,
                     name.plugin + ": it has no device " + std::to_string(name.device) + ": its " +
                         info_.platform + " client has " + std::to_string(devices->size()));
  }
  device_ = (*devices)[name.device];
  return {};
}

Status Client::Create(const DeviceName& name) {
  auto args = HONE_PJRT_ARGS(PJRT_Client_Create_Args);
  std::deque<OptionValue> values;  // elements stay where they are
  std::vector<PJRT_NamedValue> options;
  for (const auto& [key, text] : name.options) {
    values.push_back(ParseOptionValue(text));
    options.push_back(NamedValue(key, values.back()));
  }
  args.create_options = options.data();
  args.num_options = options.size();
  const Status created =
      Check(api_->PJRT_Client_Create(&args), "the plugin has no client to offer here");
  if (!created) {
    return MakeError(ErrorCode::kUnsupported, name.plugin + ": " + created.error().message);
  }
  client_ = args.client;
  return {};
}

Status Client::Describe() {
  auto platform = HONE_PJRT_ARGS(PJRT_Client_PlatformName_Args);
  platform.client = client_;
  if (Status s = Check(api_->PJRT_Client_PlatformName(&platform), "platform name"); !s) return s;
  info_.platform.assign(platform.platform_name, platform.platform_name_size);
  auto version = HONE_PJRT_ARGS(PJRT_Client_PlatformVersion_Args);
  version.client = client_;
  if (Status s = Check(api_->PJRT_Client_PlatformVersion(&version), "its version"); !s) return s;
  info_.platform_version.assign(version.platform_version, version.platform_version_size);
  const auto devices = Devices();
  if (!devices) return tl::unexpected(devices.error());
  for (PJRT_Device* device : *devices) {
    auto details = DescribeDevice(device);
    if (!details) return tl::unexpected(details.error());
    info_.devices.push_back(*std::move(details));
  }
  return {};
}

StatusOr<std::vector<PJRT_Device*>> Client::Devices() {
  auto args = HONE_PJRT_ARGS(PJRT_Client_AddressableDevices_Args);
  args.client = client_;
  const Status asked = Check(api_->PJRT_Client_AddressableDevices(&args), "its devices");
  if (!asked) return tl::unexpected(asked.error());
  return std::vector<PJRT_Device*>(args.addressable_devices,
                                   args.addressable_devices + args.num_addressable_devices);
}

StatusOr<DeviceDetails> Client::DescribeDevice(PJRT_Device* device) {
  DeviceDetails details;
  auto get = HONE_PJRT_ARGS(PJRT_Device_GetDescription_Args);
  get.device = device;
  Status s = Check(api_->PJRT_Device_GetDescription(&get), "a device's description");
  if (!s) return tl::unexpected(s.error());
  auto id = HONE_PJRT_ARGS(PJRT_DeviceDescription_Id_Args);
  id.device_description = get.device_description;
  if (s = Check(api_->PJRT_DeviceDescription_Id(&id), "a device's id"); !s) {
    return tl::unexpected(s.error());
  }
  details.id = id.id;
  auto kind = HONE_PJRT_ARGS(PJRT_DeviceDescription_Kind_Args);
  kind.device_description = get.device_description;
  if (s = Check(api_->PJRT_DeviceDescription_Kind(&kind), "a device's kind"); !s) {
    return tl::unexpected(s.error());
  }
  details.kind.assign(kind.device_kind, kind.device_kind_size);
  // What follows is for people: a plugin that does not tell leaves it out.
  if (HONE_PJRT_HAS(api_, PJRT_DeviceDescription_ToString)) {
    auto text = HONE_PJRT_ARGS(PJRT_DeviceDescription_ToString_Args);
    text.device_description = get.device_description;
    if (Check(api_->PJRT_DeviceDescription_ToString(&text), "a device's text")) {
      details.text.assign(text.to_string, text.to_string_size);
    }
  }
  if (HONE_PJRT_HAS(api_, PJRT_DeviceDescription_Attributes)) {
    auto args = HONE_PJRT_ARGS(PJRT_DeviceDescription_Attributes_Args);
    args.device_description = get.device_description;
    if (Check(api_->PJRT_DeviceDescription_Attributes(&args), "a device's attributes")) {
      details.attributes = AttributesOf(args.attributes, args.num_attributes);
    }
  }
  if (HONE_PJRT_HAS(api_, PJRT_Device_MemoryStats)) {
    auto args = HONE_PJRT_ARGS(PJRT_Device_MemoryStats_Args);
    args.device = device;
    if (Check(api_->PJRT_Device_MemoryStats(&args), "memory") && args.bytes_limit_is_set) {
      details.memory_bytes = args.bytes_limit;
    }
  }
  return details;
}

Status Client::Compile(uint32_t executable, std::string_view format, std::string_view code,
                       std::string_view options) {
  auto program = HONE_PJRT_ARGS(PJRT_Program);
  program.code = const_cast<char*>(code.data());  // in, here
  program.code_size = code.size();
  program.format = format.data();
  program.format_size = format.size();
  auto args = HONE_PJRT_ARGS(PJRT_Client_Compile_Args);
  args.client = client_;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  const Status compiled = Check(api_->PJRT_Client_Compile(&args), "the plugin's compiler");
  if (!compiled) return compiled;
  const auto outputs = OutputsOf(args.executable);
  if (!outputs) return tl::unexpected(outputs.error());
  if (executables_.count(executable) != 0) (void)Drop(executable);
  executables_[executable] = {args.executable, *outputs};
  return {};
}

StatusOr<size_t> Client::OutputsOf(PJRT_LoadedExecutable* loaded) {
  auto get = HONE_PJRT_ARGS(PJRT_LoadedExecutable_GetExecutable_Args);
  get.loaded_executable = loaded;
  Status s = Check(api_->PJRT_LoadedExecutable_GetExecutable(&get), "an executable");
  if (!s) return tl::unexpected(s.error());
  auto count = HONE_PJRT_ARGS(PJRT_Executable_NumOutputs_Args);
  count.executable = get.executable;
  s = Check(api_->PJRT_Executable_NumOutputs(&count), "an executable's outputs");
  auto destroy = HONE_PJRT_ARGS(PJRT_Executable_Destroy_Args);
  destroy.executable = get.executable;
  (void)Check(api_->PJRT_Executable_Destroy(&destroy), "an executable's end");
  if (!s) return tl::unexpected(s.error());
  return count.num_outputs;
}

Status Client::Drop(uint32_t executable) {
  const auto found = executables_.find(executable);
  if (found == executables_.end()) return NoSuch("executable");
  auto args = HONE_PJRT_ARGS(PJRT_LoadedExecutable_Destroy_Args);
  args.executable = found->second.loaded;
  executables_.erase(found);
  return Check(api_->PJRT_LoadedExecutable_Destroy(&args), "an executable's end");
}

Status Client::Place(uint32_t inputs, const std::vector<ArrayView>& arrays) {
  if (inputs_.count(inputs) != 0) (void)Remove(inputs);
  Buffers buffers;
  for (const ArrayView& array : arrays) {
    const int type = PjrtNumber(array.type);
    if (type < 0) {
      Free(buffers);
      return MakeError(ErrorCode::kUnsupported, "a parameter is an array of " +
                                                    std::string(array.type) +
                                                    ", which hone does not bring to devices");
    }
    auto args = HONE_PJRT_ARGS(PJRT_Client_BufferFromHostBuffer_Args);
    args.client = client_;
    args.data = array.bytes.data();
    args.type = static_cast<PJRT_Buffer_Type>(type);
    args.dims = array.dimensions.data();
    args.num_dims = array.dimensions.size();
    args.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
    args.device = device_;
    Status placed = Check(api_->PJRT_Client_BufferFromHostBuffer(&args), "placing an input");
    if (placed) {
      buffers.push_back(args.buffer);
      placed = Await(api_, args.done_with_host_buffer, "placing an input");
    }
    if (!placed) {
      Free(buffers);
      return placed;
    }
  }
  inputs_[inputs] = std::move(buffers);
  return {};
}

Status Client::Remove(uint32_t inputs) {
  const auto found = inputs_.find(inputs);
  if (found == inputs_.end()) return NoSuch("inputs");
  Free(found->second);
  inputs_.erase(found);
  return {};
}

void Client::Free(const Buffers& buffers) {
  for (PJRT_Buffer* buffer : buffers) {
    if (buffer == nullptr) continue;
    auto args = HONE_PJRT_ARGS(PJRT_Buffer_Destroy_Args);
    args.buffer = buffer;
    (void)Check(api_->PJRT_Buffer_Destroy(&args), "freeing a buffer");
  }
}

StatusOr<std::pair<const Client::Executable*, const Client::Buffers*>> Client::Find(
    uint32_t executable, uint32_t inputs) const {
  const auto program = executables_.find(executable);
  if (program == executables_.end()) return NoSuch("executable");
  const auto arguments = inputs_.find(inputs);
  if (arguments == inputs_.end()) return NoSuch("inputs");
  return std::pair(&program->second, &arguments->second);
}

StatusOr<Client::Buffers> Client::Execute(const Executable& executable, const Buffers& inputs) {
  // The same inputs serve run after run: none is given away, also where the program would let it.
  std::vector<int64_t> kept(inputs.size());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = static_cast<int64_t>(i);
  auto options = HONE_PJRT_ARGS(PJRT_ExecuteOptions);
  options.non_donatable_input_indices = kept.data();
  options.num_non_donatable_input_indices = kept.size();
  Buffers outputs(executable.outputs, nullptr);
  PJRT_Buffer* const* const arguments = inputs.data();
  PJRT_Buffer** const results = outputs.data();
  PJRT_Event* done = nullptr;
  auto args = HONE_PJRT_ARGS(PJRT_LoadedExecutable_Execute_Args);
  args.executable = executable.loaded;
  args.options = &options;
  args.argument_lists = &arguments;
  args.num_devices = 1;
  args.num_args = inputs.size();
  args.output_lists = &results;
  args.device_complete_events = &done;
  if (Status s = Check(api_->PJRT_LoadedExecutable_Execute(&args), "running it"); !s) {
    return tl::unexpected(s.error());
  }
  Status finished = Await(api_, done, "running it");
  for (PJRT_Buffer* output : outputs) {
    // A plugin without that event says of each output when it is there.
    if (done != nullptr || !finished) break;
    auto ready = HONE_PJRT_ARGS(PJRT_Buffer_ReadyEvent_Args);
    ready.buffer = output;
    finished = Check(api_->PJRT_Buffer_ReadyEvent(&ready), "running it");
    if (finished) finished = Await(api_, ready.event, "running it");
  }
  if (finished) return outputs;
  Free(outputs);
  return tl::unexpected(finished.error());
}

StatusOr<DeviceArray> Client::Fetch(PJRT_Buffer* buffer) {
  DeviceArray array;
  auto type = HONE_PJRT_ARGS(PJRT_Buffer_ElementType_Args);
  type.buffer = buffer;
  if (Status s = Check(api_->PJRT_Buffer_ElementType(&type), "an output's type"); !s) {
    return tl::unexpected(s.error());
  }
  const verify::ElementType* const known = ElementTypeOfPjrt(static_cast<int>(type.type));
  if (known == nullptr) {
    return MakeError(ErrorCode::kUnsupported,
                     "an output is an array of elements that hone does not fetch from devices "
                     "(PJRT_Buffer_Type " +
                         std::to_string(type.type) + ")");
  }
  array.type = known->name;
  auto dimensions = HONE_PJRT_ARGS(PJRT_Buffer_Dimensions_Args);
  dimensions.buffer = buffer;
  if (Status s = Check(api_->PJRT_Buffer_Dimensions(&dimensions), "an output's shape"); !s) {
    return tl::unexpected(s.error());
  }
  array.dimensions.assign(dimensions.dims, dimensions.dims + dimensions.num_dims);
  // Row-major, whatever the device keeps it in.
  std::vector<int64_t> minor_to_major(array.dimensions.size());
  for (size_t i = 0; i < minor_to_major.size(); ++i) {
    minor_to_major[i] = static_cast<int64_t>(minor_to_major.size() - 1 - i);
  }
  auto layout = HONE_PJRT_ARGS(PJRT_Buffer_MemoryLayout);
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled = HONE_PJRT_ARGS(PJRT_Buffer_MemoryLayout_Tiled);
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();
  auto fetch = HONE_PJRT_ARGS(PJRT_Buffer_ToHostBuffer_Args);
  fetch.src = buffer;
  fetch.host_layout = &layout;
  if (Status s = Check(api_->PJRT_Buffer_ToHostBuffer(&fetch), "an output's size"); !s) {
    return tl::unexpected(s.error());
  }
  array.bytes.resize(fetch.dst_size);
  fetch.dst = array.bytes.data();
  fetch.event = nullptr;
  Status fetched = Check(api_->PJRT_Buffer_ToHostBuffer(&fetch), "fetching an output");
  if (fetched) fetched = Await(api_, fetch.event, "fetching an output");
  if (!fetched) return tl::unexpected(fetched.error());
  return array;
}

StatusOr<std::vector<DeviceArray>> Client::Run(uint32_t executable, uint32_t inputs) {
  const auto found = Find(executable, inputs);
  if (!found) return tl::unexpected(found.error());
  const auto outputs = Execute(*found->first, *found->second);
  if (!outputs) return tl::unexpected(outputs.error());
  std::vector<DeviceArray> arrays;
  for (PJRT_Buffer* output : *outputs) {
    StatusOr<DeviceArray> array = Fetch(output);
    if (!array) {
      Free(*outputs);
      return tl::unexpected(array.error());
    }
    arrays.push_back(*std::move(array));
  }
  Free(*outputs);
  return arrays;
}

StatusOr<double> Client::Time(uint32_t executable, uint32_t inputs, uint32_t repeats) {
  using Clock = std::chrono::steady_clock;
  const auto found = Find(executable, inputs);
  if (!found) return tl::unexpected(found.error());
  const Clock::time_point start = Clock::now();
  for (uint32_t k = 0; k < repeats; ++k) {
    const auto outputs = Execute(*found->first, *found->second);
    if (!outputs) return tl::unexpected(outputs.error());
    Free(*outputs);
  }
  return std::chrono::duration<double>(Clock::now() - start).count() / std::max(repeats, 1u);
}

}  // namespace hone::device
