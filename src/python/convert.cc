#include "convert.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <map>
#include <span>
#include <stdexcept>

#include "core/nearest.h"
#include "jobs/cache_folder.h"
#include "jobs/kernels.h"

namespace hone::python {
namespace {

using Setter = std::function<void(nb::handle)>;

template <class T>
Setter Into(T& place) {
  return [&place](nb::handle value) { place = nb::cast<T>(value); };
}

void Fill(const nb::dict& options, const std::map<std::string, Setter>& setters,
          const char* what) {
  for (auto [key, value] : options) {
    const std::string name = nb::cast<std::string>(key);
    const auto setter = setters.find(name);
    if (setter == setters.end()) {
      std::vector<std::string> known;
      for (const auto& [of, set] : setters) known.push_back(of);
      throw nb::value_error(("there is no " + std::string(what) + " '" + name + "'" +
                             DidYouMean(name, known))
                                .c_str());
    }
    try {
      setter->second(value);
    } catch (const nb::cast_error&) {
      throw nb::value_error((std::string(what) + " '" + name + "' cannot be " +
                             nb::cast<std::string>(nb::repr(value)))
                                .c_str());
    }
  }
}

template <class T>
std::vector<T> Rows(const std::vector<const View*>& views, size_t width,
                    void (*write)(const View&, std::span<T>)) {
  std::vector<T> values(views.size() * width);
  for (size_t i = 0; i < views.size(); ++i) {
    write(*views[i], std::span<T>(values).subspan(i * width, width));
  }
  return values;
}

}  // namespace

void Throw(const Error& error) {
  if (error.code == ErrorCode::kInvalidInput) throw nb::value_error(error.message.c_str());
  throw std::runtime_error(error.message);
}

EnvOptions ToEnvOptions(const nb::dict& options) {
  EnvOptions env;
  std::string objective(ObjectiveName(env.reward.objective));
  std::string schedule = "round_robin";
  ObservationOptions& observation = env.observation;
  observation.opcodes = false;
  RewardOptions& reward = env.reward;
  nb::dict reward_options;
  nb::dict observation_options;
  Fill(options,
       {{"actions", Into(env.actions)},
        {"stop_action", Into(env.stop_action)},
        {"traj_limit", Into(env.traj_limit)},
        {"schedule", Into(schedule)},
        {"curriculum_episodes", Into(env.curriculum_episodes)},
        {"episode_mask", Into(env.episode_mask)},
        {"use_table", Into(env.use_table)},
        {"most_transitions", Into(env.most_transitions)},
        {"observation", Into(observation_options)},
        {"reward", Into(reward_options)}},
       "option");
  Fill(observation_options,
       {{"opcodes", Into(observation.opcodes)},
        {"opcode_counts", Into(observation.opcode_counts)},
        {"cost", Into(observation.cost)},
        {"peak_memory", Into(observation.peak_memory)},
        {"history", Into(observation.history)},
        {"graph", Into(observation.graph)}},
       "part of an observation");
  Fill(reward_options,
       {{"objective", Into(objective)},
        {"change", Into(reward.change)},
        {"headroom", Into(reward.headroom)},
        {"level", Into(reward.level)},
        {"shaping", Into(reward.shaping)},
        {"discount", Into(reward.discount)},
        {"flops_weight", Into(reward.flops_weight)},
        {"transcendentals_weight", Into(reward.transcendentals_weight)},
        {"final_default", Into(reward.final_default)},
        {"final_run_time", Into(reward.final_run_time)},
        {"failure", Into(reward.failure)}},
       "part of a reward");
  const auto known = ObjectiveFromName(objective);
  if (!known) {
    throw nb::value_error(
        ("there is no objective '" + objective +
         "'" + DidYouMean(objective, {std::begin(kObjectiveNames), std::end(kObjectiveNames)}))
            .c_str());
  }
  reward.objective = *known;
  const std::map<std::string, Schedule> schedules{{"round_robin", Schedule::kRoundRobin},
                                                  {"random", Schedule::kRandom},
                                                  {"curriculum", Schedule::kCurriculum}};
  const auto found = schedules.find(schedule);
  if (found == schedules.end()) {
    throw nb::value_error(("there is no schedule '" + schedule +
                           "': it is round_robin, random or curriculum")
                              .c_str());
  }
  env.schedule = found->second;
  return env;
}

PoolOptions ToPoolOptions(const nb::dict& options) {
  PoolOptions pool;
  double memory_mib = 1024;
  std::string loops_program;
  pool.kernel_folder = jobs::KernelFolder();
  Fill(options,
       {{"workers", Into(pool.workers)},
        {"worker_path", Into(pool.worker_path)},
        {"target", Into(pool.target)},
        {"pass_deadline", Into(pool.pass_deadline_seconds)},
        {"call_deadline", Into(pool.call_deadline_seconds)},
        {"memory_limit", Into(memory_mib)},
        {"rules", Into(pool.rule_files)},
        {"sandbox", Into(pool.sandbox)},
        {"loops_program", Into(loops_program)}},
       "option");
  if (!loops_program.empty()) {
    pool.kernels = jobs::KernelMaker(pool.sandbox, pool.kernel_folder, loops_program);
  }
  pool.headroom_bytes = static_cast<size_t>(memory_mib * 1048576);
  pool.cache_bytes = pool.headroom_bytes / 4;
  return pool;
}

nb::object Observe(const std::vector<const View*>& views, const Session& session,
                   const std::string& part) {
  const size_t n = views.size();
  const size_t opcodes = session.pool().opcodes().size();
  if (part == "opcodes") return ToNumpy(Rows<float>(views, opcodes, WriteOpcodes), {n, opcodes});
  if (part == "opcode_counts") {
    return ToNumpy(Rows<int32_t>(views, opcodes, WriteOpcodeCounts), {n, opcodes});
  }
  if (part == "cost") {
    const auto width = static_cast<size_t>(kCostFeatureCount);
    return ToNumpy(Rows<double>(views, width, WriteCost), {n, width});
  }
  if (part == "peak_memory") {
    std::vector<double> values;
    for (const View* view : views) {
      values.push_back(static_cast<double>(view->metrics.peak_memory));
    }
    return ToNumpy(std::move(values), {n, 1});
  }
  if (part == "history") {
    const auto width = static_cast<size_t>(session.options().traj_limit);
    return ToNumpy(Rows<int64_t>(views, width, WriteHistory), {n, width});
  }
  throw nb::value_error(("there is no part '" + part + "' of an observation").c_str());
}

nb::dict ObserveGraph(const View& view) {
  nb::dict graph;
  if (view.arrays == nullptr) return graph;
  // Shown once already, by a step before or in a fork: what each caller gets is its own.
  const bool shown = view.arrays.use_count() > 1;
  auto* kept = new std::shared_ptr<const ProgramArrays>(
      shown ? std::make_shared<const ProgramArrays>(*view.arrays) : view.arrays);
  const ProgramArrays& arrays = **kept;
  nb::capsule owner(kept, [](void* p) noexcept {
    delete static_cast<std::shared_ptr<const ProgramArrays>*>(p);
  });
  const auto put = [&]<class T>(const char* name, const std::vector<T>& values, size_t width = 0) {
    const size_t rows = width == 0 ? values.size() : values.size() / width;
    const size_t shape[] = {rows, width};
    graph[name] = nb::cast(
        nb::ndarray<nb::numpy, const T>(values.data(), width == 0 ? 1 : 2, shape, owner));
  };
  put("opcode", arrays.opcode);
  put("type", arrays.type);
  put("rank", arrays.rank);
  put("computation", arrays.computation);
  put("dimensions", arrays.dimensions, kArrayDimensions);
  put("flops", arrays.flops);
  put("bytes", arrays.bytes);
  put("edge_start", arrays.edge_start);
  put("edge_source", arrays.edge_source);
  put("edge_kind", arrays.edge_kind);
  return graph;
}

nb::list ToList(const std::vector<Link>& links, const Pool& pool) {
  nb::list made;
  for (const Link& link : links) {
    made.append(nb::make_tuple(pool.passes()[link.pass].name,
                               link.decisions == nullptr ? Decisions() : *link.decisions));
  }
  return made;
}

nb::dict ToDict(const ComparisonReport& report) {
  nb::dict out;
  out["verdict"] = report.verdict == Verdict::kEqual       ? "equal"
                   : report.verdict == Verdict::kDifferent ? "different"
                                                           : "cannot tell";
  out["method"] = report.method;
  out["reason"] = report.reason;
  out["inputs"] = report.inputs;
  out["worst_error"] = report.worst_error;
  out["seconds"] = report.seconds;
  return out;
}

nb::dict ToDict(const RaceReport& report) {
  nb::dict out;
  out["same_executable"] = report.same_executable;
  out["seconds_a"] = report.seconds_a;
  out["seconds_b"] = report.seconds_b;
  out["speedup"] = report.speedup;
  out["low"] = report.low;
  out["high"] = report.high;
  out["pairs"] = report.pairs;
  return out;
}

}  // namespace hone::python
