#include "cli/loop_tasks.h"

#include <algorithm>
#include <utility>

#include "cli/input.h"
#include "loops/tasks.h"

namespace hone::cli {

StatusOr<std::string> ReadTaskText(const std::string& given) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  if (const loops::KnownTask* const known = loops::FindKnownTask(given)) return known->text;
  StatusOr<std::string> text = ReadInput(given, kMostBytes);
  if (!text) {
    return MakeError(text.error().code, text.error().message +
                                            "; nor is it one of the tasks that `hone loops list` "
                                            "names");
  }
  std::replace(text->begin(), text->end(), ';', '\n');  // as a program's calls have it
  return text;
}

}  // namespace hone::cli
