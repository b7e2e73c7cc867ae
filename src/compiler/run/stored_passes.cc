#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zlib.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "compiler/fingerprint.h"
#include "compiler/kernels/kernels.h"
#include "compiler/run/optimised.h"
#include "compiler/sites/keys.h"
#include "wire/code_files.h"
#include "xla/service/computation_layout.h"

namespace hone::compiler {
namespace {

constexpr int64_t kCheckOneIn = 100;
// Larger ones, with constants in them mostly, are not kept.
constexpr size_t kMostBytes = size_t{1} << 26;
constexpr int kFastest = 1;  // zlib's

// In front of the module.
struct Header {
  uint64_t high, low;  // the module's fingerprint
  uint64_t applied, hidden;
  uint64_t bytes;  // before compression
};

// Of the process; never destroyed, for XLA's threads outlive everything.
struct Files {
  std::unique_ptr<wire::CodeFiles> files;  // or none
  uint64_t makers = 0;
  std::atomic<int64_t> found{0}, made{0};

  static Files& Get() {
    static Files* const files = new Files;
    return *files;
  }
  Fingerprint KeyOf(const Fingerprint& key) const {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(&key, sizeof(key), makers);
    return {hash.high64, hash.low64};
  }
};

std::optional<Header> HeaderOf(const std::string& record) {
  Header header;
  if (record.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, record.data(), sizeof(header));
  if (header.bytes > kMostBytes) return std::nullopt;
  return header;
}

}  // namespace

void ShareOptimised(const std::string& folder) {
  Files& shared = Files::Get();
  shared.files = wire::CodeFiles::Open(folder);
  // Into how many parts a kernel is cut depends on them.
  shared.makers = Mix(MakersOfKernels(), std::thread::hardware_concurrency());
}

bool SharesOptimised() { return Files::Get().files != nullptr; }

std::optional<StoredPasses> FindPasses(const Fingerprint& key) {
  Files& shared = Files::Get();
  if (shared.files == nullptr) return std::nullopt;
  const std::optional<std::string> record = shared.files->Find(shared.KeyOf(key));
  if (!record) return std::nullopt;
  const std::optional<Header> header = HeaderOf(*record);
  if (!header || ++shared.found % kCheckOneIn == 0) return std::nullopt;
  std::string bytes(header->bytes, '\0');
  uLongf size = bytes.size();
  const int inflated = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                                  reinterpret_cast<const Bytef*>(record->data()) + sizeof(Header),
                                  record->size() - sizeof(Header));
  StoredPasses passes;
  if (inflated != Z_OK || size != bytes.size() || !passes.module.ParseFromString(bytes)) {
    return std::nullopt;
  }
  passes.fingerprint = {header->high, header->low};
  passes.applied = header->applied;
  passes.hidden = header->hidden;
  return passes;
}

void StorePasses(const Fingerprint& key, const StoredPasses& passes) {
  Files& shared = Files::Get();
  if (shared.files == nullptr) return;
  const Fingerprint place = shared.KeyOf(key);
  if (const std::optional<std::string> record = shared.files->Find(place)) {
    const std::optional<Header> header = HeaderOf(*record);
    if (header && passes.fingerprint == Fingerprint{header->high, header->low}) return;
    shared.files->Forbid(place);
    std::fputs("hone-worker: passes made another module than was kept; it is not kept\n", stderr);
    return;
  }
  if (passes.module.ByteSizeLong() > kMostBytes) return;
  const std::string bytes = passes.module.SerializeAsString();
  const Header header = {passes.fingerprint.high, passes.fingerprint.low, passes.applied,
                         passes.hidden, bytes.size()};
  std::string record(sizeof(header) + compressBound(bytes.size()), '\0');
  std::memcpy(record.data(), &header, sizeof(header));
  uLongf size = record.size() - sizeof(header);
  if (compress2(reinterpret_cast<Bytef*>(record.data()) + sizeof(header), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), kFastest) != Z_OK) {
    return;
  }
  record.resize(sizeof(header) + size);
  shared.files->Add(place, record);
}

std::unique_ptr<xla::HloModule> ModuleOf(const StoredPasses& passes,
                                         const xla::HloModuleConfig& config) {
  const absl::StatusOr<xla::ProgramShape> shape =
      xla::ProgramShape::FromProto(passes.module.host_program_shape());
  if (!shape.ok()) return nullptr;
  xla::HloModuleConfig laid_out = config;
  *laid_out.mutable_entry_computation_layout() =
      xla::ComputationLayout(*shape, /*ignore_layouts=*/false);
  auto module = xla::HloModule::CreateFromProto(passes.module, laid_out);
  if (!module.ok() || !(DigestModule(**module).fingerprint == passes.fingerprint)) return nullptr;
  ++Files::Get().made;
  return *std::move(module);
}

int64_t ModulesOfStoredPasses() { return Files::Get().made; }

}  // namespace hone::compiler
