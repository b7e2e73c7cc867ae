// A report: a headline and sections, as one JSON document. What the sections are, sections/ says.
#ifndef HONE_REPORT_DOCUMENT_H_
#define HONE_REPORT_DOCUMENT_H_

#include <string>
#include <vector>

#include "core/comparison.h"
#include "report/json.h"

namespace hone::report {

// A number that a person looks for first.
struct Figure {
  std::string label;
  std::string value;  // with its unit
  std::string note;   // in small letters below it; may be empty
};

// How well the result stands up.
enum class Verified { kYes, kNo, kSkipped, kUnknown };

struct Headline {
  std::string verdict;  // what came of it, in a sentence
  bool better = false;  // than what it is measured against
  Verified verified = Verified::kSkipped;
  std::string verification;  // how, in words
  std::vector<Figure> figures;
};

struct Document {
  std::string command;  // "optimize"
  std::string title;    // the program's name
  std::string file;     // as it was given
  Headline headline;
  std::vector<Json> sections;        // each made by ToSection of sections/
  std::vector<Figure> facts;         // versions, seed, options: at the end, small
  std::vector<std::string> remarks;  // what was left out of the report, and why
};

Json ToJson(const Document& document);

// "within the spread of rounding noise; 3 input sets, worst error 0.13 of the tolerance".
std::string HowVerified(const ComparisonReport& report);

}  // namespace hone::report

#endif  // HONE_REPORT_DOCUMENT_H_
