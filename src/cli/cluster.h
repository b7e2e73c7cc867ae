// Workers on the machines of a Ray cluster, for commands that take `--workers ray:…`.
#ifndef HONE_CLI_CLUSTER_H_
#define HONE_CLI_CLUSTER_H_

#include <CLI/App.hpp>
#include <memory>

#include "cli/common.h"
#include "jobs/cluster.h"

namespace hone::cli {

using jobs::Cluster;
using jobs::ClusterOptions;

// Behind AddCommonOptions, whose --workers takes a cluster's too from here on.
void AddClusterOptions(CLI::App& app, CommonOptions& common, ClusterOptions& options);

// Cluster::Connect; null where workers run here.
StatusOr<std::shared_ptr<Cluster>> Connect(ClusterOptions options, const CommonOptions& common);

}  // namespace hone::cli

#endif  // HONE_CLI_CLUSTER_H_
