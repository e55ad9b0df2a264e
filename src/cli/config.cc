#include "cli/config.h"

#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/assert.h"
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

Status AddValues(CLI::Option& option, const std::vector<std::string>& texts) {
  try {
    for (const std::string& text : texts) option.add_result(text);
    option.run_callback();
  } catch (const CLI::ParseError& e) {
    return Status(Code::kBadValue, e.what());
  }
  return {};
}

Status ApplyKey(CLI::App& app, const std::string& key, const toml::node& node) {
  CLI::Option* option = app.get_option_no_throw("--" + key);
  if (option == nullptr || key == "config" || IsOfOneRun(key)) {
    return Status(Code::kBadValue, StrCat("unknown key; the keys are the options of braid ", app.get_name(),
                                          " without the dashes, see braid ", app.get_name(), " --help"));
  }
  BRAID_TRY(const std::vector<std::string> texts, Texts(node));
  if (option->count() > 0 || texts.empty()) return {};  // the command line goes first
  return AddValues(*option, texts);
}

bool IsList(const CLI::Option& option) { return option.get_expected_max() > 1; }
bool IsFlag(const CLI::Option& option) { return option.get_expected_max() == 0; }

std::vector<std::string> SplitList(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ',');
  return {parts.begin(), parts.end()};
}

// A value as TOML: numbers and booleans are bare.
std::string TomlValue(const CLI::Option& option, const std::string& text) {
  const bool bare = IsFlag(option) ||
                    (!text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; }));
  if (bare) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted += '"';
}

std::string TomlLine(const CLI::Option& option, std::vector<std::string> texts) {
  const std::string& key = option.get_single_name();
  // The default as CLI11 shows it: a list in brackets.
  if (texts.empty() && IsList(option)) {
    const std::string text = option.get_default_str();
    std::string_view shown = text;
    if (shown.starts_with('[') && shown.ends_with(']')) shown = shown.substr(1, shown.size() - 2);
    if (shown.empty()) return StrCat("# ", key, " is not set");
    texts = SplitList(shown);
  } else if (texts.empty()) {
    texts.push_back(IsFlag(option) ? "false" : option.get_default_str());
    if (texts.front().empty()) return StrCat("# ", key, " is not set");
  }
  if (!IsList(option)) return StrCat(key, " = ", TomlValue(option, texts.back()));
  std::string list;
  for (const std::string& text : texts) list += StrCat(list.empty() ? "" : ", ", TomlValue(option, text));
  return StrCat(key, " = [", list, "]");
}

}  // namespace

void AddConfigOption(CLI::App& app) {
  app.add_option(
         kConfig,
         "A TOML file with options, such as: port = 27018. The command line and the environment take precedence.")
      ->type_name("FILE");
}

std::string EnvironmentName(std::string_view option) {
  std::string name = "BRAID_";
  for (const char c : option) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

bool IsOfOneRun(std::string_view option) { return option == "help" || option == "check-config"; }

Status ApplyEnvironment(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string& key = option->get_single_name();
    if (IsOfOneRun(key) || option->count() > 0) continue;
    const std::string name = EnvironmentName(key);
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') continue;
    const Status given = AddValues(*option, IsList(*option) ? SplitList(value) : std::vector<std::string>{value});
    if (!given.ok()) return Status(given.code(), StrCat(name, "=", value, ": ", given.message()));
  }
  return {};
}

std::string EffectiveConfig(const CLI::App& app, const GivenOptions& flags, const GivenOptions& outside) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    const std::string& key = option->get_single_name();
    if (key == "config" || IsOfOneRun(key)) continue;
    const char* const source = flags.contains(key)     ? "command line"
                               : outside.contains(key) ? "environment"
                               : option->count() > 0   ? "file"
                                                       : "default";
    text += StrCat(TomlLine(*option, option->results()), "  # ", source, "\n");
  }
  return text;
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

GivenOptions OptionsGiven(const CLI::App& app) {
  GivenOptions given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) given[option->get_single_name()] = option->results();
  }
  return given;
}

Status GiveOptions(CLI::App& app, const GivenOptions& given) {
  for (const auto& [name, texts] : given) {
    CLI::Option* option = app.get_option_no_throw("--" + name);
    BRAID_ASSERT(option != nullptr);
    BRAID_CHECK_OK(AddValues(*option, texts));
  }
  return {};
}

}  // namespace braid::cli
