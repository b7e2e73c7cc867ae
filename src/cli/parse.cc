#include "cli/parse.h"

#include <fmt/format.h>

#include <CLI/Error.hpp>
#include <algorithm>
#include <utility>

namespace hone::cli {
namespace {

template <class T, class Parse>
CLI::Option* AddParsed(CLI::App& app, const std::string& name, T& target, const std::string& help,
                       const char* type, Parse parse) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name, parse](const std::string& text) {
            auto parsed = parse(text);
            if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
            target = *std::move(parsed);
          },
          help)
      ->type_name(type);
}

}  // namespace

CLI::Option* AddDuration(CLI::App& app, const std::string& name, double& seconds,
                         const std::string& help) {
  return AddParsed(app, name, seconds, help, "DURATION", ParseDuration);
}

CLI::Option* AddSize(CLI::App& app, const std::string& name, size_t& bytes,
                     const std::string& help) {
  return AddParsed(app, name, bytes, help, "SIZE", ParseSize);
}

CLI::Option* AddSizeOrNone(CLI::App& app, const std::string& name, size_t& bytes,
                           const std::string& help) {
  return AddParsed(app, name, bytes, help, "SIZE", [](std::string_view text) {
    const size_t first = std::min(text.find_first_not_of(' '), text.size());
    const size_t end = text.find_last_not_of(' ') + 1;  // npos + 1 is 0
    const bool none = text.substr(first, end - std::min(first, end)) == "0";
    return none ? StatusOr<size_t>(0) : ParseSize(text);
  });
}

CLI::Option* AddBudget(CLI::App& app, const std::string& name, Budget& budget,
                       const std::string& help) {
  return AddParsed(app, name, budget, help, "BUDGET", ParseBudget);
}

void AddInputsOption(CLI::App& app, jobs::GivenInputs& inputs) {
  app.add_option("--inputs", inputs.texts,
                 fmt::format("what programs are compared on: how many generated input sets, each of "
                             "another distribution ({}), and files of your own before those: "
                             "numpy.savez's, an array for each parameter",
                             CompareOptions().inputs))
      ->type_name("N|FILE.npz")
      ->check(jobs::WhyNoInputs);
}

}  // namespace hone::cli
