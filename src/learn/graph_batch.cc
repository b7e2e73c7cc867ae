#include "learn/graph_batch.h"

#include <unordered_map>
#include <utility>

#include "core/result.h"

namespace hone::learn {
namespace {

SparsePointer Pointer(Sparse::Rows rows, int64_t columns) {
  return c10::make_intrusive<Sparse>(std::move(rows), columns);
}

// Ends a row whose columns were pushed since the last: their mean.
void EndMean(Sparse::Rows& rows) {
  const size_t count = rows.column.size() - rows.value.size();
  rows.value.insert(rows.value.end(), count, 1.0f / static_cast<float>(count));
  rows.start.push_back(static_cast<int32_t>(rows.column.size()));
}

void EndRow(Sparse::Rows& rows) { rows.start.push_back(static_cast<int32_t>(rows.column.size())); }

using Graphs = std::vector<const ProgramArrays*>;

GraphBatch::Entering EnteringOf(const Graphs& graphs, EdgeKind kind, int64_t nodes) {
  Sparse::Rows mean;
  Sparse::Rows place;
  int32_t first = 0;
  for (const ProgramArrays* graph : graphs) {
    const auto size = static_cast<int32_t>(graph->opcode.size());
    for (int32_t i = 0; i < size; ++i) {
      for (int32_t e = graph->edge_start[i]; e < graph->edge_start[i + 1]; ++e) {
        if (static_cast<EdgeKind>(graph->edge_kind[e]) == kind) {
          mean.column.push_back(first + graph->edge_source[e]);
        }
      }
      if (mean.column.size() > mean.value.size()) {
        place.column.push_back(static_cast<int32_t>(mean.size()));
        place.value.push_back(1);
        EndMean(mean);
      }
      EndRow(place);
    }
    first += size;
  }
  const int64_t rows = mean.size();
  return {Pointer(std::move(mean), nodes), Pointer(std::move(place), rows)};
}

SparsePointer LeavingOf(const Graphs& graphs, int64_t nodes) {
  std::vector<std::vector<int32_t>> users(nodes);
  int32_t first = 0;
  for (const ProgramArrays* graph : graphs) {
    const auto size = static_cast<int32_t>(graph->opcode.size());
    for (int32_t i = 0; i < size; ++i) {
      for (int32_t e = graph->edge_start[i]; e < graph->edge_start[i + 1]; ++e) {
        users[first + graph->edge_source[e]].push_back(first + i);
      }
    }
    first += size;
  }
  Sparse::Rows rows;
  for (const std::vector<int32_t>& of_node : users) {
    rows.column.insert(rows.column.end(), of_node.begin(), of_node.end());
    EndMean(rows);
  }
  return Pointer(std::move(rows), nodes);
}

}  // namespace

GraphBatch MakeGraphBatch(const std::vector<std::shared_ptr<const ProgramArrays>>& graphs) {
  Graphs distinct;
  std::unordered_map<const ProgramArrays*, int64_t> number_of;
  std::vector<int64_t> program;
  for (const auto& graph : graphs) {
    HONE_CHECK(graph != nullptr);
    const auto [place, is_new] = number_of.try_emplace(graph.get(), distinct.size());
    if (is_new) distinct.push_back(graph.get());
    program.push_back(place->second);
  }

  GraphBatch batch;
  std::vector<int64_t> opcode;
  std::vector<int64_t> type;
  std::vector<float> numbers;
  Sparse::Rows program_mean;
  batch.start.push_back(0);
  for (const ProgramArrays* graph : distinct) {
    for (size_t i = 0; i < graph->opcode.size(); ++i) {
      program_mean.column.push_back(static_cast<int32_t>(opcode.size()));
      opcode.push_back(policy::EmbeddingRow(graph->opcode[i], policy::kOpcodeRows));
      type.push_back(policy::EmbeddingRow(graph->type[i], policy::kTypeRows));
    }
    EndMean(program_mean);
    const std::vector<float> of_graph = policy::NodeNumbers(*graph);
    numbers.insert(numbers.end(), of_graph.begin(), of_graph.end());
    batch.start.push_back(static_cast<int64_t>(opcode.size()));
  }

  const int64_t nodes = batch.start.back();
  batch.opcode = torch::tensor(opcode, torch::kInt64);
  batch.type = torch::tensor(type, torch::kInt64);
  batch.numbers = torch::tensor(numbers, torch::kFloat32).view({nodes, policy::kNodeNumbers});
  for (size_t kind = 0; kind < batch.entering.size(); ++kind) {
    batch.entering[kind] = EnteringOf(distinct, static_cast<EdgeKind>(kind), nodes);
  }
  batch.leaving = LeavingOf(distinct, nodes);
  batch.program_mean = Pointer(std::move(program_mean), nodes);
  batch.program = torch::tensor(program, torch::kInt64);
  return batch;
}

}  // namespace hone::learn
