#include "env/vector_env.h"

#include "env/vector_of_definitions.h"

namespace hone {

template class VectorOf<PassOrderEnv>;
template class VectorOf<RewritesEnv>;

}  // namespace hone
