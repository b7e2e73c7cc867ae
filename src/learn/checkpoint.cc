#include "learn/checkpoint.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hone::learn {
namespace {

template <class T>
torch::Tensor ToTensor(const std::vector<T>& values) {
  torch::Tensor tensor =
      torch::empty({static_cast<int64_t>(values.size())}, torch::CppTypeToScalarType<T>::value);
  if (!values.empty()) std::memcpy(tensor.data_ptr(), values.data(), values.size() * sizeof(T));
  return tensor;
}

// The fields of a program's arrays: `visit(name, vector, its size)`.
template <class Arrays, class Visit>
void VisitArrays(Arrays& arrays, int64_t nodes, int64_t edges, Visit visit) {
  visit("opcode", arrays.opcode, nodes);
  visit("type", arrays.type, nodes);
  visit("rank", arrays.rank, nodes);
  visit("computation", arrays.computation, nodes);
  visit("dimensions", arrays.dimensions, nodes * kArrayDimensions);
  visit("flops", arrays.flops, nodes);
  visit("bytes", arrays.bytes, nodes);
  visit("edge_start", arrays.edge_start, nodes + 1);
  visit("edge_source", arrays.edge_source, edges);
  visit("edge_kind", arrays.edge_kind, edges);
}

// Equal programs are often the same object: each is written once, all of them end to end. Rows
// without a program have the index -1.
void WriteGraphs(CheckpointWriter& to, const std::string& name, const Observation& observation) {
  std::unordered_map<const ProgramArrays*, int64_t> numbers;
  std::vector<int64_t> index, sizes;
  ProgramArrays all;
  for (const auto& graph : observation.graphs) {
    if (!graph) {
      index.push_back(-1);
      continue;
    }
    const auto [found, is_new] = numbers.emplace(graph.get(), numbers.size());
    index.push_back(found->second);
    if (!is_new) continue;
    sizes.push_back(static_cast<int64_t>(graph->opcode.size()));
    sizes.push_back(static_cast<int64_t>(graph->edge_source.size()));
    std::vector<const void*> from;
    VisitArrays(*graph, 0, 0, [&](const char*, const auto& v, int64_t) { from.push_back(&v); });
    size_t field = 0;
    VisitArrays(all, 0, 0, [&](const char*, auto& v, int64_t) {
      const auto& part = *static_cast<const std::remove_reference_t<decltype(v)>*>(from[field++]);
      v.insert(v.end(), part.begin(), part.end());
    });
  }
  to.Write(name + ".graph", ToTensor(index));
  to.Write(name + ".graph_sizes", ToTensor(sizes));
  VisitArrays(all, 0, 0, [&](const char* field, const auto& values, int64_t) {
    to.Write(name + "." + field, ToTensor(values));
  });
}

void CheckGraph(const ProgramArrays& graph) {
  const int64_t nodes = static_cast<int64_t>(graph.opcode.size());
  bool sound = graph.edge_start.front() == 0 &&
               graph.edge_start.back() == static_cast<int64_t>(graph.edge_source.size());
  for (int64_t i = 0; i < nodes; ++i) sound &= graph.edge_start[i] <= graph.edge_start[i + 1];
  for (const int32_t source : graph.edge_source) sound &= source >= 0 && source < nodes;
  TORCH_CHECK(sound, "a broken graph");
}

void ReadGraphs(CheckpointReader& from, const std::string& name, Observation& observation) {
  const int64_t rows = observation.size();
  const torch::Tensor index = from.Read(name + ".graph", {rows}, torch::kInt64);
  const torch::Tensor sizes = from.ReadAny(name + ".graph_sizes");
  TORCH_CHECK(sizes.dim() == 1 && sizes.scalar_type() == torch::kInt64 && sizes.size(0) % 2 == 0,
              name, ": broken sizes of graphs");
  std::vector<std::shared_ptr<ProgramArrays>> graphs(static_cast<size_t>(sizes.size(0) / 2));
  for (auto& graph : graphs) graph = std::make_shared<ProgramArrays>();
  std::vector<std::pair<torch::Tensor, int64_t>> fields;  // and how far each is read
  ProgramArrays none;
  VisitArrays(none, 0, 0, [&](const char* field, const auto& values, int64_t) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    fields.emplace_back(from.ReadAny(name + "." + field), 0);
    TORCH_CHECK(fields.back().first.dim() == 1 &&
                    fields.back().first.scalar_type() == torch::CppTypeToScalarType<T>::value,
                name, ".", field, ": not of the right type");
  });
  const int64_t* size = sizes.data_ptr<int64_t>();
  for (size_t i = 0; i < graphs.size(); ++i) {
    TORCH_CHECK(size[2 * i] >= 0 && size[2 * i] < INT32_MAX && size[2 * i + 1] >= 0, name,
                ": broken sizes of graphs");
    size_t number = 0;
    VisitArrays(*graphs[i], size[2 * i], size[2 * i + 1],
                [&](const char* field, auto& values, int64_t count) {
                  using T = typename std::remove_reference_t<decltype(values)>::value_type;
                  auto& [tensor, at] = fields[number++];
                  TORCH_CHECK(count <= tensor.size(0) - at, name, ".", field, ": too short");
                  const T* data = tensor.template data_ptr<T>() + at;
                  values.assign(data, data + count);
                  at += count;
                });
    CheckGraph(*graphs[i]);
  }
  observation.graphs.resize(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t graph = index.data_ptr<int64_t>()[i];
    TORCH_CHECK(graph >= -1 && graph < static_cast<int64_t>(graphs.size()), name,
                ": no such graph");
    if (graph >= 0) observation.graphs[i] = graphs[graph];
  }
}

}  // namespace

void CheckpointWriter::Write(const std::string& name, const torch::Tensor& tensor) {
  // A copy: views would be written with all of their storage.
  archive_.write(name, tensor.detach().clone(), /*is_buffer=*/true);
}

void CheckpointWriter::WriteText(const std::string& name, const std::string& text) {
  Write(name, ToTensor(std::vector<uint8_t>(text.begin(), text.end())));
}

void CheckpointWriter::WriteCount(const std::string& name, int64_t count) {
  Write(name, ToTensor(std::vector<int64_t>{count}));
}

void CheckpointWriter::WriteRng(const std::string& name, const Rng& rng) {
  WriteCount(name, static_cast<int64_t>(rng.state()));
}

void CheckpointWriter::WriteOptimizer(const std::string& name,
                                      const torch::optim::Optimizer& optimizer) {
  torch::serialize::OutputArchive nested(archive_.compilation_unit());
  optimizer.save(nested);
  archive_.write(name, nested);
}

void CheckpointWriter::WriteObservation(const std::string& name, const Observation& observation) {
  Write(name + ".features", observation.features);
  Write(name + ".value_features", observation.value_features);
  Write(name + ".mask", observation.mask);
  if (!observation.graphs.empty()) WriteGraphs(*this, name, observation);
}

void CheckpointWriter::Finish(const std::string& path) {
  // To memory first: torch's own writer ends the process where a disk is full (its destructor
  // throws).
  std::string bytes;
  archive_.save_to([&bytes](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  const std::string half = path + ".half";
  std::FILE* file = std::fopen(half.c_str(), "wb");
  TORCH_CHECK(file != nullptr, "cannot open ", half, ": ", std::strerror(errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
                       std::fflush(file) == 0 && fsync(fileno(file)) == 0;
  const int reason = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) std::remove(half.c_str());
  TORCH_CHECK(written && closed, "cannot write ", half, ": ", std::strerror(reason));
  TORCH_CHECK(std::rename(half.c_str(), path.c_str()) == 0, "cannot rename ", half, ": ",
              std::strerror(errno));
}

CheckpointReader::CheckpointReader(const std::string& path) { archive_.load_from(path); }

torch::Tensor CheckpointReader::ReadAny(const std::string& name) {
  torch::Tensor tensor;
  archive_.read(name, tensor, /*is_buffer=*/true);
  return tensor.contiguous();
}

torch::Tensor CheckpointReader::Read(const std::string& name, at::IntArrayRef shape,
                                     torch::ScalarType type) {
  torch::Tensor tensor = ReadAny(name);
  TORCH_CHECK(tensor.sizes() == shape && tensor.scalar_type() == type, name, " is ",
              tensor.scalar_type(), " ", tensor.sizes(), ", not ", type, " ", shape);
  return tensor;
}

std::string CheckpointReader::ReadText(const std::string& name) {
  const torch::Tensor bytes = ReadAny(name);
  TORCH_CHECK(bytes.scalar_type() == torch::kUInt8, name, " is no text");
  const uint8_t* data = bytes.data_ptr<uint8_t>();
  return {data, data + bytes.numel()};
}

int64_t CheckpointReader::ReadCount(const std::string& name) {
  return Read(name, {1}, torch::kInt64).data_ptr<int64_t>()[0];
}

Rng CheckpointReader::ReadRng(const std::string& name) {
  return Rng(static_cast<uint64_t>(ReadCount(name)));
}

void CheckpointReader::ReadOptimizer(const std::string& name, torch::optim::Optimizer& optimizer) {
  torch::serialize::InputArchive nested;
  archive_.read(name, nested);
  optimizer.load(nested);
}

Observation CheckpointReader::ReadObservation(const std::string& name, const TaskShape& shape,
                                              int64_t rows) {
  Observation observation;
  observation.features = Read(name + ".features", {rows, shape.features}, torch::kFloat32);
  observation.value_features =
      Read(name + ".value_features", {rows, shape.value_features}, torch::kFloat32);
  observation.mask = Read(name + ".mask", {rows, shape.actions}, torch::kBool);
  if (shape.graphs) ReadGraphs(*this, name, observation);
  return observation;
}

}  // namespace hone::learn
