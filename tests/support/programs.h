// Programs and pools for tests.
#ifndef HONE_TESTS_SUPPORT_PROGRAMS_H_
#define HONE_TESTS_SUPPORT_PROGRAMS_H_

#include <memory>
#include <string>
#include <vector>

#include "core/program.h"
#include "wire/pool.h"

namespace hone::testing {

// The bytes of a file under data/, such as "kmeans/jax010_kmeans_while.hlo".
std::string ReadData(const std::string& name);
// The bytes of a file under tests/.
std::string ReadTestFile(const std::string& name);
// Names under tests/FOLDER that end in `extension`, sorted.
std::vector<std::string> ListTestFiles(const std::string& folder, const std::string& extension);

// A pool that is shared by the tests of a program that do not break it.
Pool& SharedPool();
std::unique_ptr<Pool> MakePool(PoolOptions options = {});

// Loaded, or the test fails.
ProgramInfo MustLoad(Pool& pool, const std::string& data);

PassId PassNamed(const Pool& pool, const std::string& name);
// The ids of the passes of the set `simplify`.
std::vector<PassId> Simplifiers(const Pool& pool);

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_PROGRAMS_H_
