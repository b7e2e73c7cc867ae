#include "report/sections/remark.h"

namespace hone::report {

Json ToSection(const Remark& remark) { return {{"kind", "remark"}, {"text", remark.text}}; }

}  // namespace hone::report
