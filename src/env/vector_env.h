// Many environments over programs, by the one vector of environments.
#ifndef HONE_ENV_VECTOR_ENV_H_
#define HONE_ENV_VECTOR_ENV_H_

#include "env/pass_order_env.h"
#include "env/rewrites_env.h"
#include "env/vector_of.h"

namespace hone {

extern template class VectorOf<PassOrderEnv>;
extern template class VectorOf<RewritesEnv>;
using VectorEnv = VectorOf<PassOrderEnv>;
using RewritesVectorEnv = VectorOf<RewritesEnv>;

}  // namespace hone

#endif  // HONE_ENV_VECTOR_ENV_H_
