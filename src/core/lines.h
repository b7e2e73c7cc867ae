// Text taken apart into lines, words and what commas stand between.
#ifndef HONE_CORE_LINES_H_
#define HONE_CORE_LINES_H_

#include <algorithm>
#include <string_view>
#include <vector>

namespace hone {

// What stands before the first separator of a text that is not empty, or all of it. The text loses
// both.
inline std::string_view TakePart(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// The first line of a text that is not empty, without its line break. The text loses both.
inline std::string_view TakeLine(std::string_view& text) { return TakePart(text, '\n'); }

// What stands between spaces, tabs and carriage returns.
inline std::vector<std::string_view> WordsOf(std::string_view line) {
  constexpr const char* kSpace = " \t\r";
  std::vector<std::string_view> words;
  size_t at = 0;
  while ((at = line.find_first_not_of(kSpace, at)) != line.npos) {
    const size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace hone

#endif  // HONE_CORE_LINES_H_
