#include "jobs/place.h"

#include <fmt/format.h>

#include "jobs/version.h"

namespace hone::jobs {

store::Place PlaceOf(const Pool& pool) {
  store::Place place = store::ThisPlace(pool.version(), HoneVersion());
  if (pool.is_gpu()) {
    place.cpu = fmt::format("{} by XLA's model", pool.target());
    place.cores = 1;
  }
  return place;
}

}  // namespace hone::jobs
