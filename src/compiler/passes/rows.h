// Shorthands for the tables of passes.
#ifndef HONE_COMPILER_PASSES_ROWS_H_
#define HONE_COMPILER_PASSES_ROWS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/passes/pass_table.h"
#include "compiler/sites/intercept.h"
#include "xla/hlo/pass/hlo_pass_fix.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

namespace hone::compiler {

using Threads = absl::flat_hash_set<absl::string_view>;

inline constexpr PassGroup kSimplify = PassGroup::kSimplify;
inline constexpr PassGroup kExpand = PassGroup::kExpand;
inline constexpr PassGroup kLegalise = PassGroup::kLegalise;
inline constexpr PassGroup kLayout = PassGroup::kLayout;
inline constexpr PassGroup kFuse = PassGroup::kFuse;
inline constexpr PassGroup kSchedule = PassGroup::kSchedule;
inline constexpr PassGroup kCollective = PassGroup::kCollective;

// The last column but one: is the pass in the action set `simplify`?
inline constexpr bool kInSimplify = true;
inline constexpr bool kOutside = false;

// A pass that does not say that it changed something when its rewrites were all declined: else it
// would be repeated to no end.
template <typename Pass>
class Truthful : public Pass {
 public:
  using Pass::Pass;

 protected:
  absl::StatusOr<bool> RunImpl(xla::HloModule* module, const Threads& threads) override {
    const int64_t before = RewritesMade();
    const absl::StatusOr<bool> changed = Pass::RunImpl(module, threads);
    if (!changed.ok()) return changed;
    return *changed && (before < 0 || RewritesMade() > before);
  }
};

template <typename Pass>
using Fix = xla::HloPassFix<Truthful<Pass>>;

// A factory of Pass made with copies of these arguments.
template <typename Pass, typename... Arguments>
auto Make(Arguments... arguments) {
  return [=]() -> std::unique_ptr<xla::HloPassInterface> {
    return std::make_unique<Pass>(arguments...);
  };
}

inline PassEntry Row(std::string name, std::string class_name, PassGroup group,
                     std::string meaning, std::string options, bool simplify,
                     std::function<std::unique_ptr<xla::HloPassInterface>()> make) {
  return {{std::move(name), std::move(class_name), std::move(meaning), group, std::move(options),
           simplify},
          std::move(make)};
}

// May change the module and report that it did not: domain_remover, for it counts no shardings, and
// every HloPassFix, for it forgets its changes when it reaches its limit of 25 rounds.
inline PassEntry Silent(PassEntry entry) {
  entry.silent = true;
  return entry;
}

// Changes what is there instead of replacing it.
inline PassEntry InPlace(PassEntry entry) {
  entry.grain = Grain::kInPlace;
  return entry;
}

inline int64_t PointerSizedBytes(const xla::Shape& shape) {
  return shape.IsOpaque() ? sizeof(void*) : xla::ShapeUtil::ByteSizeOf(shape, sizeof(void*));
}

}  // namespace hone::compiler

#endif  // HONE_COMPILER_PASSES_ROWS_H_
