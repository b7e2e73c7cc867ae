// The option --report and its file; jobs/report*.h make the pages.
#ifndef HONE_CLI_REPORT_H_
#define HONE_CLI_REPORT_H_

#include <CLI/App.hpp>
#include <string>

#include "core/result.h"
#include "report/document.h"

namespace hone::cli {

// --report OUT. For commands that take several files OUT is a folder then.
void AddReportOption(CLI::App& app, std::string& path, bool several_files = false);

// Can a report be made, and written there? Before long work. Fine where none is wanted.
Status CheckReport(const std::string& path);
// Only the first, where each of several files gets a report.
Status CheckReports(const std::string& path);

Status WriteReport(const std::string& path, const report::Document& document);

}  // namespace hone::cli

#endif  // HONE_CLI_REPORT_H_
