// Numbers and messages in words for people.
#ifndef HONE_REPORT_WORDS_H_
#define HONE_REPORT_WORDS_H_

#include <cstdint>
#include <string>

namespace hone::report {

// "1,234"; "1.2 GiB"; "1.23 G"; "-" for the -1 of what was not measured.
std::string Grouped(int64_t number);
std::string HumanBytes(double bytes);
std::string HumanCount(double number);

// "1.23 ms", "45.6 µs"; "1.5 %".
std::string HumanSeconds(double seconds);
std::string Percent(double share);

// For people to read: control characters and broken UTF-8, which a damaged file can bring into a
// message, are replaced; lines after the first are indented.
std::string Printable(const std::string& message);

}  // namespace hone::report

#endif  // HONE_REPORT_WORDS_H_
