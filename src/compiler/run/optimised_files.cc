#include "compiler/run/optimised_files.h"

#define XXH_INLINE_ALL
#include <sched.h>
#include <xxhash.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "compiler/kernels/kernels.h"
#include "compiler/run/executables.h"
#include "wire/code_files.h"
#include "xla/service/hlo.pb.h"
#include "xla/xla.pb.h"

namespace hone::compiler {
namespace {

// Passes over fewer take less time than writing down what they make.
constexpr int64_t kFewestInstructions = 100;
constexpr size_t kMostModuleBytes = size_t{64} << 20;  // uncompressed
constexpr int64_t kMostFileBytes = int64_t{32} << 20;

struct Files {
  std::unique_ptr<wire::CodeFiles> files;  // or none
  uint64_t makers = 0;

  // Of the process; never destroyed, for XLA's threads outlive everything.
  static Files& Get() {
    static Files* const files = new Files;
    return *files;
  }
};

thread_local bool passes_anew = false;

struct Header {
  uint64_t applied = 0, hidden = 0;  // CompileDecider's
  uint64_t bytes = 0;                // of the module, uncompressed
};

int Processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::string Compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string to(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(to.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED) != Z_OK) {
    return {};
  }
  to.resize(size);
  return to;
}

// "" where it is not `bytes` long.
std::string Uncompressed(std::string_view from, size_t bytes) {
  std::string to(bytes, '\0');
  uLongf size = bytes;
  if (uncompress(reinterpret_cast<Bytef*>(to.data()), &size,
                 reinterpret_cast<const Bytef*>(from.data()), from.size()) != Z_OK ||
      size != bytes) {
    return {};
  }
  return to;
}

std::string Bytes(const xla::HloModule& module) {
  xla::HloModuleProto proto = module.ToProto();
  proto.clear_id();  // tells this copy from others
  return DeterministicBytes(proto);
}

std::unique_ptr<xla::HloModule> Parsed(const std::string& bytes,
                                       const xla::HloModuleConfig& config) {
  xla::HloModuleProto proto;
  if (!proto.ParseFromString(bytes)) return nullptr;
  auto module = xla::HloModule::CreateFromProto(proto, config, /*prohibit_empty_literal=*/true,
                                                /*comp_envs=*/nullptr,
                                                /*preserve_instruction_ids=*/true);
  return module.ok() ? *std::move(module) : nullptr;
}

// All that a module is compiled with but the quality of its code.
std::string ConfigBytes(const xla::HloModule& module) {
  xla::HloModuleConfigProto config = module.config().ToProto();
  config.mutable_debug_options()->clear_xla_backend_optimization_level();
  return DeterministicBytes(config);
}

}  // namespace

void ShareOptimised(const std::string& folder) {
  Files::Get().files = wire::CodeFiles::Open(folder, kMostFileBytes);
  Files::Get().makers = MakersOfKernels();
}

void OptimisedElsewhere::Begin(const xla::HloModule& module) {
  if (Files::Get().files == nullptr) return;
  config_ = module.config();
  config_bytes_ = ConfigBytes(module);
  const uint64_t numbers[] = {program_.high, program_.low, Files::Get().makers,
                              static_cast<uint64_t>(Processors())};
  const XXH128_hash_t hash = XXH3_128bits_withSeed(config_bytes_.data(), config_bytes_.size(),
                                                   XXH3_64bits(numbers, sizeof(numbers)));
  key_ = {hash.high64, hash.low64};
}

PassesAnew::PassesAnew(bool anew) { passes_anew = anew; }
PassesAnew::~PassesAnew() { passes_anew = false; }

std::unique_ptr<xla::HloModule> OptimisedElsewhere::Find() {
  wire::CodeFiles* const files = Files::Get().files.get();
  if (files == nullptr || passes_anew) return nullptr;
  const std::optional<std::string> record = files->Find(key_);
  Header header;
  if (!record || record->size() < sizeof(header)) return nullptr;
  std::memcpy(&header, record->data(), sizeof(header));
  if (header.bytes > kMostModuleBytes) return nullptr;
  const std::string bytes =
      Uncompressed(std::string_view(*record).substr(sizeof(header)), header.bytes);
  std::unique_ptr<xla::HloModule> made = Parsed(bytes, config_);
  if (made != nullptr && decider_ != nullptr) decider_->Recall(header.applied, header.hidden);
  return made;
}

void OptimisedElsewhere::Add(const xla::HloModule& made) {
  wire::CodeFiles* const files = Files::Get().files.get();
  if (files == nullptr || made.instruction_count() < kFewestInstructions) return;
  if (ConfigBytes(made) != config_bytes_) return;
  const std::string bytes = Bytes(made);
  if (bytes.empty() || bytes.size() > kMostModuleBytes) return;
  const std::unique_ptr<xla::HloModule> again = Parsed(bytes, made.config());
  if (again == nullptr || Bytes(*again) != bytes) return;
  Header header;
  if (decider_ != nullptr) header = {decider_->applied(), decider_->hidden(), 0};
  header.bytes = bytes.size();
  files->Add(key_, std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
                       Compressed(bytes));
}

}  // namespace hone::compiler
