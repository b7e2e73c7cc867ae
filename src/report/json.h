// Reports are put together as JSON, whose fields keep their order.
#ifndef HONE_REPORT_JSON_H_
#define HONE_REPORT_JSON_H_

#include <nlohmann/json.hpp>

namespace hone::report {

using Json = nlohmann::ordered_json;

}  // namespace hone::report

#endif  // HONE_REPORT_JSON_H_
