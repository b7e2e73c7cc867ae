// A report as one HTML file that needs nothing else: the app of web/ with the document in it.
#ifndef HONE_REPORT_HTML_H_
#define HONE_REPORT_HTML_H_

#include <string>
#include <string_view>

#include "core/result.h"
#include "report/document.h"

namespace hone::report {

// The app, bundled when hone was built; empty where it could not be (no node, or npm unreachable).
std::string_view Template();

// An error where there is no template; says how to get it. To be asked before long work.
Status HaveTemplate();

// The template with the document in its place: JSON, deflated, in base64.
StatusOr<std::string> ToHtml(const Document& document);

// The values that ToHtml fills in: for tests and other templates.
std::string Packed(const std::string& text);

}  // namespace hone::report

#endif  // HONE_REPORT_HTML_H_
