#include "report/document.h"

#include <fmt/format.h>

namespace hone::report {
namespace {

const char* Name(Verified verified) {
  switch (verified) {
    case Verified::kYes:
      return "yes";
    case Verified::kNo:
      return "no";
    case Verified::kSkipped:
      return "skipped";
    case Verified::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Json ToJson(const std::vector<Figure>& figures) {
  Json json = Json::array();
  for (const Figure& figure : figures) {
    json.push_back({{"label", figure.label}, {"value", figure.value}, {"note", figure.note}});
  }
  return json;
}

}  // namespace

Json ToJson(const Document& document) {
  const Headline& headline = document.headline;
  return {{"format", "hone report 1"},
          {"command", document.command},
          {"title", document.title},
          {"file", document.file},
          {"headline",
           {{"verdict", headline.verdict},
            {"better", headline.better},
            {"verified", Name(headline.verified)},
            {"verification", headline.verification},
            {"figures", ToJson(headline.figures)}}},
          {"sections", document.sections},
          {"facts", ToJson(document.facts)},
          {"remarks", document.remarks}};
}

std::string HowVerified(const ComparisonReport& report) {
  if (report.verdict != Verdict::kEqual) {
    return report.reason.empty() ? report.method : report.reason;
  }
  if (report.inputs == 0) return report.method;
  return fmt::format("{}; {} input set{}, worst error {:.3g} of the tolerance", report.method,
                     report.inputs, report.inputs == 1 ? "" : "s", report.worst_error);
}

}  // namespace hone::report
