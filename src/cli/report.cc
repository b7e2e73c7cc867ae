#include "cli/report.h"

#include "cli/output.h"
#include "report/html.h"

namespace hone::cli {
void AddReportOption(CLI::App& app, std::string& path, bool several_files) {
  app.add_option("--report", path,
                 several_files
                     ? "write a page to look at, one HTML file; a folder for several files"
                     : "write a page to look at, one HTML file")
      ->type_name("OUT");
}

Status CheckReports(const std::string& path) {
  return path.empty() ? Status() : report::HaveTemplate();
}

Status CheckReport(const std::string& path) {
  if (Status have = CheckReports(path); !have || path.empty()) return have;
  return CheckWritable(path);
}

Status WriteReport(const std::string& path, const report::Document& document) {
  StatusOr<std::string> html = report::ToHtml(document);
  if (!html) return tl::unexpected(html.error());
  return WriteFile(path, *html);
}

}  // namespace hone::cli
