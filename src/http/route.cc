#include "http/route.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::http {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsParameter(std::string_view part) { return part.starts_with('{') && part.ends_with('}'); }

// The parameters of the path if the pattern fits.
std::optional<Fields> MatchPath(std::string_view pattern, std::string_view path) {
  const std::vector<std::string_view> wanted = Split(pattern, '/');
  const std::vector<std::string_view> parts = Split(path, '/');
  if (wanted.size() != parts.size()) return std::nullopt;
  Fields fields;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::optional<std::string> part = PercentDecode(parts[i], false);
    if (!part) return std::nullopt;
    if (!IsParameter(wanted[i])) {
      if (*part != wanted[i]) return std::nullopt;
      continue;
    }
    if (part->empty()) return std::nullopt;
    fields.emplace_back(std::string(wanted[i].substr(1, wanted[i].size() - 2)), *std::move(part));
  }
  return fields;
}

// A path without parameters goes before one that has some: /v1/stats/staker is not the staker of that name.
size_t ParameterCount(const Route& route) { return static_cast<size_t>(std::ranges::count(route.path, '{')); }

Result<Fields> ParseQuery(std::string_view query) {
  Fields fields;
  if (query.empty()) return fields;
  for (const std::string_view pair : Split(query, '&')) {
    const size_t equals = pair.find('=');
    const std::optional<std::string> name = PercentDecode(pair.substr(0, equals), true);
    const std::optional<std::string> value =
        equals == std::string_view::npos ? std::string() : PercentDecode(pair.substr(equals + 1), true);
    if (!name || !value) return Status(Code::kBadValue, StrCat("the query is not well-formed at '", pair, "'"));
    fields.emplace_back(*name, *value);
  }
  return fields;
}

Status CheckValue(const Parameter& parameter, const std::string& value) {
  if (!IsUtf8(value)) return Status(Code::kBadValue, StrCat(parameter.name, " is not UTF-8"));
  if (parameter.type == Parameter::Type::kInteger) {
    int64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [stopped, error] = std::from_chars(value.data(), end, number);
    if (error == std::errc() && stopped == end && number >= parameter.min && number <= parameter.max) return {};
    const std::string range = parameter.min == INT64_MIN   ? ""
                              : parameter.max == INT64_MAX ? StrCat(" from ", parameter.min)
                                                           : StrCat(" from ", parameter.min, " to ", parameter.max);
    return Status(Code::kBadValue, StrCat(parameter.name, " is '", value, "'; it must be an integer", range));
  }
  const std::string_view choices = parameter.type == Parameter::Type::kBoolean ? "true,false" : parameter.choices;
  if (choices.empty()) return {};
  for (const std::string_view choice : Split(choices, ',')) {
    if (value == choice) return {};
  }
  return Status(Code::kBadValue, StrCat(parameter.name, " is '", value, "'; it must be one of ", choices));
}

}  // namespace

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return decoded;
}

Match FindRoute(std::span<const Route> routes, const Request& request) {
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  Match match;
  for (const Route& route : routes) {
    std::optional<Fields> path = MatchPath(route.path, request.path);
    if (!path) continue;
    match.allow.emplace_back(route.method);
    if (route.method != method) continue;
    if (match.route != nullptr && ParameterCount(*match.route) <= ParameterCount(route)) continue;
    match.route = &route;
    match.path = *std::move(path);
  }
  if (std::ranges::find(match.allow, "GET") != match.allow.end()) match.allow.emplace_back("HEAD");
  std::sort(match.allow.begin(), match.allow.end());
  match.allow.erase(std::unique(match.allow.begin(), match.allow.end()), match.allow.end());
  return match;
}

Result<Arguments> Arguments::Parse(std::span<const Parameter> parameters, const Fields& path, const Request& request) {
  BRAID_TRY(const Fields query, ParseQuery(request.query));
  for (const auto& field : query) {
    const std::string& name = field.first;
    const bool known = std::ranges::any_of(parameters, [&](const Parameter& parameter) {
      return parameter.place == Parameter::Place::kQuery && parameter.name == name;
    });
    if (!known) return Status(Code::kBadValue, StrCat("there is no parameter '", name, "' here; see /openapi.json"));
    if (std::ranges::count(query, name, &Fields::value_type::first) > 1) {
      return Status(Code::kBadValue, StrCat("the parameter ", name, " is given more than once"));
    }
  }
  Arguments arguments;
  arguments.values_.reserve(parameters.size());
  for (const Parameter& parameter : parameters) {
    std::optional<std::string> value;
    if (parameter.place == Parameter::Place::kHeader) {
      std::string lower(parameter.name);
      std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
      if (const std::string_view given = request.Header(lower); !given.empty()) value = given;
    } else {
      const Fields& fields = parameter.place == Parameter::Place::kPath ? path : query;
      const auto found = std::ranges::find(fields, parameter.name, &Fields::value_type::first);
      if (found != fields.end()) value = found->second;
    }
    if (value) BRAID_CHECK_OK(CheckValue(parameter, *value));
    if (!value && parameter.required) return Status(Code::kBadValue, StrCat(parameter.name, " is missing"));
    arguments.values_.emplace_back(parameter.name, value.value_or(std::string(parameter.fallback)));
  }
  return arguments;
}

const std::string& Arguments::Text(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &Fields::value_type::first);
  BRAID_ASSERT(found != values_.end());
  return found->second;
}

std::optional<int64_t> Arguments::OptionalInteger(std::string_view name) const {
  const std::string& text = Text(name);
  int64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc()) return std::nullopt;
  return number;
}

int64_t Arguments::Integer(std::string_view name) const { return OptionalInteger(name).value_or(0); }

}  // namespace braid::http
