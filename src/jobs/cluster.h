// Workers on the machines of a Ray cluster.
//
// A process, the hub (python/hone/ray/hub.py), has them; a pool starts as its workers what stands
// in for them here (stand_in.py), and knows of no cluster. docs/many-machines.md tells the whole.
#ifndef HONE_JOBS_CLUSTER_H_
#define HONE_JOBS_CLUSTER_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "core/result.h"
#include "jobs/workers.h"
#include "wire/pool.h"

namespace hone::jobs {

struct ClusterOptions {
  // The workers' purpose: measuring, alone on a machine, or stepping through states.
  enum class Use { kMeasure, kStep };
  Use use = Use::kStep;
  std::string address;  // "auto", "HOST:PORT", "ray://HOST:PORT"; "": workers run here
  std::string kind;     // of machine; "": any
  std::string python;   // one that has Ray; "": .venv-ray, or else python3
  std::string worker;   // path of hone-worker on those machines; "": the same as here
};

class Cluster {
 public:
  // Null where workers run here. Of `workers` only the memory limit is used; 0 is the limit of the
  // worker's own machine. Errors: no Ray, no cluster, no machine in it that fits.
  static StatusOr<std::shared_ptr<Cluster>> Connect(const ClusterOptions& options,
                                                    const WorkerOptions& workers);
  ~Cluster();  // ends the hub, and with it all its workers
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Pools started with these options have their workers there: at most as many as there is room
  // for.
  void Lend(PoolOptions& options) const;
  // The machines that measure: they have one processor.
  const std::string& cpu() const { return cpu_; }
  int cores() const { return cores_; }

 private:
  Cluster() = default;
  Status Launch(const ClusterOptions& options, const WorkerOptions& workers);
  Status FirstWord();
  std::string LastWords() const;

  pid_t pid_ = -1;
  int socket_ = -1;
  int log_ = -1;
  int workers_ = 0;
  std::string worker_path_;
  std::string cpu_;
  int cores_ = 0;
};

}  // namespace hone::jobs

#endif  // HONE_JOBS_CLUSTER_H_
