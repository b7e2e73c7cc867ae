// What a rule says of a node that is to be built: its attributes and its written shape, as values.
#ifndef HONE_COMPILER_RULES_NODE_ATTRIBUTES_H_
#define HONE_COMPILER_RULES_NODE_ATTRIBUTES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/rules/expression.h"
#include "compiler/rules/pattern.h"
#include "xla/shape.h"

namespace hone::compiler {

absl::Status DoesNotFit(const Node& node, std::string_view why);

// All but Get and HasLike are errors where there is no such value.
class NodeAttributes {
 public:
  using List = std::vector<int64_t>;

  // Both must outlive it.
  NodeAttributes(const Node& node, const Scope* scope) : node_(node), scope_(scope) {}

  bool HasLike() const;
  std::optional<Value> Get(std::string_view name) const;
  absl::StatusOr<List> GetList(std::string_view name) const;
  // One number for each dimension; a single one is meant for all.
  absl::StatusOr<List> GetForEach(std::string_view name, size_t rank) const;
  // Dimensions that exist, each once.
  absl::StatusOr<List> GetDimensions(std::string_view name, size_t rank) const;
  absl::StatusOr<std::string> GetWord(std::string_view name) const;
  // Of a node that has one.
  absl::StatusOr<xla::Shape> WrittenShape() const;

 private:
  const Node& node_;
  const Scope* const scope_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_NODE_ATTRIBUTES_H_
