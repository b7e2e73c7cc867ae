#include "compiler/rules/node_attributes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/xla_names.h"
#include "xla/shape_util.h"

namespace hone::compiler {

absl::Status DoesNotFit(const Node& node, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", node.name, "': ", why));
}

bool NodeAttributes::HasLike() const {
  return std::any_of(node_.attributes.begin(), node_.attributes.end(),
                     [](const Attribute& attribute) { return attribute.name == "like"; });
}

std::optional<Value> NodeAttributes::Get(std::string_view name) const {
  for (const Attribute& attribute : node_.attributes) {
    if (attribute.name == name) return Evaluate(attribute.value, *scope_);
  }
  return std::nullopt;
}

absl::StatusOr<NodeAttributes::List> NodeAttributes::GetList(std::string_view name) const {
  const std::optional<Value> value = Get(name);
  if (value && value->kind == Value::Kind::kList) return value->list;
  if (value && value->kind == Value::Kind::kInteger) return List{value->integer};
  return DoesNotFit(node_, absl::StrCat(name, " has no value"));
}

absl::StatusOr<NodeAttributes::List> NodeAttributes::GetForEach(std::string_view name,
                                                                size_t rank) const {
  const std::optional<Value> value = Get(name);
  if (value && value->kind == Value::Kind::kInteger) return List(rank, value->integer);
  TF_ASSIGN_OR_RETURN(List list, GetList(name));
  if (list.size() != rank) {
    return DoesNotFit(node_, absl::StrCat(name, " do not go with its operand's rank"));
  }
  return list;
}

absl::StatusOr<NodeAttributes::List> NodeAttributes::GetDimensions(std::string_view name,
                                                                   size_t rank) const {
  TF_ASSIGN_OR_RETURN(List list, GetList(name));
  List sorted = list;
  std::sort(sorted.begin(), sorted.end());
  const bool good =
      std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
      (sorted.empty() || (sorted.front() >= 0 && sorted.back() < static_cast<int64_t>(rank)));
  if (!good) return DoesNotFit(node_, absl::StrCat(name, " are not dimensions"));
  return list;
}

absl::StatusOr<std::string> NodeAttributes::GetWord(std::string_view name) const {
  const std::optional<Value> value = Get(name);
  if (!value || value->kind != Value::Kind::kWord) {
    return DoesNotFit(node_, absl::StrCat(name, " has no value"));
  }
  return value->word;
}

absl::StatusOr<Shape> NodeAttributes::WrittenShape() const {
  const auto type = Evaluate(*node_.element_type, *scope_);
  const auto dimensions = Evaluate(*node_.dimensions, *scope_);
  if (!type || type->kind != Value::Kind::kWord || !ElementType(type->word) || !dimensions ||
      (dimensions->kind != Value::Kind::kList && dimensions->kind != Value::Kind::kInteger)) {
    return DoesNotFit(node_, "the written shape has no value");
  }
  const List list =
      dimensions->kind == Value::Kind::kList ? dimensions->list : List{dimensions->integer};
  if (std::any_of(list.begin(), list.end(), [](int64_t size) { return size < 0; })) {
    return DoesNotFit(node_, "a dimension of the written shape is negative");
  }
  return ShapeUtil::MakeValidatedShape(*ElementType(type->word), list);
}

}  // namespace hone::compiler
