#include "env/rewrites_view.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "env/alternatives.h"

namespace hone {

void WriteSites(const Session& session, const RewritesView& view, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  const EnvProgram* program = session.Loaded(view.program);
  if (program == nullptr) return;
  const std::vector<std::string>& opcodes = session.pool().opcodes();
  const auto number = [&](std::string_view opcode) {
    const auto found = std::find(opcodes.begin(), opcodes.end(), opcode);
    return static_cast<float>(found == opcodes.end() ? -1 : found - opcodes.begin());
  };
  const std::vector<RewriteSite>& sites = view.listing->sites;
  std::vector<int> conflicts(sites.size());
  for (const auto& [i, j] : view.listing->conflicts) {
    ++conflicts[i];
    ++conflicts[j];
  }
  const Metrics& first = program->info.metrics;
  const size_t shown = std::min(out.size() / kSiteFeatureCount, sites.size());
  for (size_t i = 0; i < shown; ++i) {
    const RewriteSite& site = sites[i];
    const float row[kSiteFeatureCount] = {
        static_cast<float>(site.kind),
        static_cast<float>(site.status),
        number(site.opcode),
        number(RootOpcode(site.replacement)),
        static_cast<float>(static_cast<double>(site.delta_op_count) /
                           static_cast<double>(std::max<int64_t>(1, first.op_count))),
        static_cast<float>(site.delta_flops / std::max(1.0, first.flops)),
        static_cast<float>(site.delta_bytes / std::max(1.0, first.bytes_accessed)),
        static_cast<float>(conflicts[i]) / static_cast<float>(sites.size()),
        static_cast<float>(i < view.nodes.size() ? view.nodes[i] : -1)};
    std::copy(std::begin(row), std::end(row), out.subspan(i * kSiteFeatureCount).begin());
  }
}

}  // namespace hone
