// Training's metrics, as files that people and TensorBoard read.
#ifndef HONE_LEARN_METRICS_LOG_H_
#define HONE_LEARN_METRICS_LOG_H_

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace hone::learn {

// In one folder:
// - metrics.jsonl, a line of JSON for each Write: {"step": 4096, "time": 12.5, then the metrics by
//   name}; what is not finite is null;
// - events.out.tfevents.SECONDS.NUMBER.hone, one for each Open, scalars as TensorBoard reads them:
//   TFRecord framing (tensorflow/core/lib/io/record_writer.h) around Event messages
//   (tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto).
// Every Write is in the files when it returns.
class MetricsLog {
 public:
  // A training that begins (`resumed_step` 0) or goes on from the checkpoint of that step: lines of
  // later steps are dropped, and so is a line that was cut short; TensorBoard is told to forget
  // them. `time`: seconds since the epoch. Errors: the folder cannot be written, or holds a
  // metrics.jsonl that is none.
  static StatusOr<MetricsLog> Open(const std::filesystem::path& folder, int64_t resumed_step,
                                   double time);

  // `time` as in Open. "step" and "time" are no metrics' names.
  Status Write(int64_t step, const std::map<std::string, double>& metrics, double time);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct File {
    std::filesystem::path path;
    std::unique_ptr<std::FILE, Close> stream;

    Status Append(std::string_view bytes);
  };

  MetricsLog(File lines, File events) : lines_(std::move(lines)), events_(std::move(events)) {}
  static StatusOr<File> OpenFile(const std::filesystem::path& path, const char* mode);

  File lines_;
  File events_;
};

// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
uint32_t Crc32c(std::string_view bytes);

}  // namespace hone::learn

#endif  // HONE_LEARN_METRICS_LOG_H_
