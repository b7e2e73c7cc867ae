#include "report/sections/scratchpad.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hone::report {
namespace {

constexpr size_t kMostRooms = 20000;

// Bytes in use from each step on at which they change: [[step, bytes], …].
Json Occupancy(const std::vector<Room>& rooms) {
  std::map<int64_t, int64_t> changes;
  for (const Room& room : rooms) {
    changes[room.start] += room.bytes;
    changes[room.end] -= room.bytes;
  }
  Json points = Json::array();
  int64_t bytes = 0;
  for (const auto& [step, change] : changes) {
    if (change == 0) continue;
    bytes += change;
    points.push_back({step, bytes});
  }
  return points;
}

}  // namespace

Json ToSection(const Scratchpad& scratchpad) {
  std::vector<Room> rooms = scratchpad.rooms;
  const auto area = [](const Room& room) {
    return static_cast<double>(room.bytes) * static_cast<double>(room.end - room.start);
  };
  if (rooms.size() > kMostRooms) {
    std::stable_sort(rooms.begin(), rooms.end(),
                     [&](const Room& a, const Room& b) { return area(a) > area(b); });
    rooms.resize(kMostRooms);
  }
  Json rows = Json::array();
  for (const Room& room : rooms) {
    rows.push_back({room.tensor, room.use, room.offset, room.bytes, room.start, room.end});
  }
  return {{"kind", "scratchpad"},
          {"note", scratchpad.note},
          {"bytes_per_partition", scratchpad.bytes_per_partition},
          {"partitions", scratchpad.partitions},
          {"steps", scratchpad.steps},
          {"occupancy", Occupancy(scratchpad.rooms)},
          {"rooms", std::move(rows)},
          {"left_out", scratchpad.rooms.size() - rooms.size()}};
}

}  // namespace hone::report
