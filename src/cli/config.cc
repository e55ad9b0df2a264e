#include "cli/config.h"

#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <vector>

#include "base/strings.h"

namespace braid::cli {
namespace {

constexpr const char* kConfig = "--config";

Result<toml::table> ReadToml(const std::string& path) {
  try {
    return toml::parse_file(path);
  } catch (const toml::parse_error& e) {
    return Status(Code::kBadValue, StrCat(path, " line ", e.source().begin.line, ": ", e.description()));
  }
}

std::optional<std::string> ScalarText(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return text;
  if (const auto number = node.value_exact<int64_t>()) return StrCat(*number);
  if (const auto flag = node.value_exact<bool>()) return std::string(*flag ? "true" : "false");
  return std::nullopt;
}

Result<std::vector<std::string>> Texts(const toml::node& node) {
  std::vector<std::string> texts;
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& item : *array) {
      if (auto text = ScalarText(item))
        texts.push_back(*std::move(text));
      else
        return Status(Code::kBadValue, "a list may hold strings, whole numbers and booleans");
    }
    return texts;
  }
  if (auto text = ScalarText(node)) return std::vector<std::string>{*std::move(text)};
  return Status(Code::kBadValue, "must be a string, a whole number, a boolean or a list of them");
}

Status ApplyKey(CLI::App& app, const std::string& key, const toml::node& node) {
  CLI::Option* option = app.get_option_no_throw("--" + key);
  if (option == nullptr || key == "config" || key == "help") {
    return Status(Code::kBadValue, StrCat("unknown key; the keys are the options of braid ", app.get_name(),
                                          " without the dashes, see braid ", app.get_name(), " --help"));
  }
  BRAID_TRY(const std::vector<std::string> texts, Texts(node));
  if (option->count() > 0) return {};  // the command line goes first
  try {
    for (const std::string& text : texts) option->add_result(text);
    option->run_callback();
  } catch (const CLI::ParseError& e) {
    return Status(Code::kBadValue, e.what());
  }
  return {};
}

}  // namespace

void AddConfigOption(CLI::App& app) {
  app.add_option(kConfig, "A TOML file with options, such as: port = 27018. The command line goes first.")
      ->type_name("FILE");
}

Status ApplyConfig(CLI::App& app) {
  const CLI::Option* option = app.get_option(kConfig);
  if (option->count() == 0) return {};
  const auto path = option->as<std::string>();
  BRAID_TRY(const toml::table table, ReadToml(path));
  for (const auto& [key, node] : table) {
    if (Status s = ApplyKey(app, std::string(key.str()), node); !s.ok()) {
      return Status(s.code(), StrCat(path, " line ", node.source().begin.line, ": ", key.str(), ": ", s.message()));
    }
  }
  return {};
}

}  // namespace braid::cli
