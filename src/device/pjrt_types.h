// Element types by the numbers that PJRT knows them by.
#ifndef HONE_DEVICE_PJRT_TYPES_H_
#define HONE_DEVICE_PJRT_TYPES_H_

#include <string_view>

#include "verify/element_types.h"

namespace hone::device {

// PJRT_Buffer_Type's number (xla/pjrt/c/pjrt_c_api.h; plugin/client.cc checks them); -1 where hone
// does not know the type.
int PjrtNumber(std::string_view type);
// Null where there is none of that number.
const verify::ElementType* ElementTypeOfPjrt(int number);

}  // namespace hone::device

#endif  // HONE_DEVICE_PJRT_TYPES_H_
