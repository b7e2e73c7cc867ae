// What nests of operations are built with.
#ifndef HONE_LOOPS_NEST_BUILDER_H_
#define HONE_LOOPS_NEST_BUILDER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "loops/nest.h"

namespace hone::loops {

// Builds nests of one operation.
class Builder {
 public:
  Builder(Program& program, std::string name, Element element)
      : program_(program), name_(std::move(name)), element_(element) {}

  // A tensor between the operation's nests.
  int Temporary(const std::string& suffix, std::vector<int64_t> shape) {
    program_.tensors.push_back({name_ + "." + suffix, element_, std::move(shape)});
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  Nest& Begin(const std::string& suffix, std::vector<Loop> loops) {
    Nest nest;
    nest.site = suffix.empty() ? name_ : name_ + "." + suffix;
    nest.element = element_;
    nest.loops = std::move(loops);
    program_.nests.push_back(std::move(nest));
    return program_.nests.back();
  }

  // A nest before the last one that was begun.
  void InsertBeforeLast(Nest nest) {
    program_.nests.insert(program_.nests.end() - 1, std::move(nest));
  }

  // The tensor at loops[0], loops[1], ...
  Access At(const Nest& nest, int tensor, const std::vector<size_t>& loops) const {
    const Tensor& of = program_.tensors[static_cast<size_t>(tensor)];
    Access access{tensor, of.element, of.shape, {}};
    for (const size_t loop : loops) access.rows.push_back(Unit(nest, loop));
    return access;
  }
  static Row Unit(const Nest& nest, size_t loop, int64_t coefficient = 1) {
    Row row(nest.loops.size(), 0);
    row[loop] = coefficient;
    return row;
  }

 private:
  Program& program_;
  const std::string name_;
  const Element element_;
};

// Adds a node to the body; its index.
int Node(Nest& nest, Scalar::Kind kind, int a = -1, int b = -1, double value = 0);

// Nodes of a nest's body for elements of tensors, with those of definitions within; equal ones
// once.
class Elements {
 public:
  Elements(const Task& task, const Builder& builder, Nest& nest)
      : task_(task), builder_(builder), nest_(nest) {}

  // The node of the tensor's element at loops[0], loops[1], ...
  int At(int tensor, const std::vector<size_t>& loops);
  // The node of what an operation makes there.
  int Of(const Operation& op, const std::vector<size_t>& loops);

 private:
  const Task& task_;
  const Builder& builder_;
  Nest& nest_;
  std::map<std::pair<int, std::vector<size_t>>, int> known_;
};

// The last node is the result: a node again, where it is another.
void EndWith(Nest& nest, int node);

// What is summed up is the product of reads 0 and 1.
void SumOfProducts(Nest& nest);

// 0, 1, ...
std::vector<size_t> Range(size_t count);
std::vector<Loop> ParallelLoops(const std::vector<int64_t>& shape);

// Which loop each dimension of the operand is, of an operation whose result's are `loops`.
std::vector<size_t> SpreadFrom(const Operation& op, const std::vector<size_t>& loops);
// Under definitions that transpose or broadcast it: the tensor, and which loop each dimension is.
std::pair<int, std::vector<size_t>> Stored(const Task& task, int tensor, std::vector<size_t> loops);
// Which loop each dimension of the result is, after the operation's permutation.
std::vector<size_t> Permuted(const Operation& op, size_t rank);

// A product, or a convolution, as a nest that multiplies, or one that slides, and what `last`,
// which it is itself or which it is a definition of, makes of it.
void BuildProduct(Builder& builder, const Operation& op, const Operation& last, const Task& task);
void BuildConvolution(Builder& builder, const Operation& op, const Operation& last,
                      const Task& task);
void BuildDepthwise(Builder& builder, const Operation& op, const Operation& last, const Task& task);

// Over the last dimension of the shape; a softmax is SITE.max, SITE.exp, SITE.sum and SITE.
void BuildSoftmax(Builder& builder, const Operation& op, const std::vector<int64_t>& shape);
void BuildLayerNorm(Builder& builder, const Operation& op, const std::vector<int64_t>& shape);

}  // namespace hone::loops

#endif  // HONE_LOOPS_NEST_BUILDER_H_
