#include "cli/common_options.h"

#include <CLI/CLI.hpp>

#include <string.h>
#include <time.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "base/strings.h"

namespace braid::cli {
namespace {

constexpr int64_t kSecondsMax = 253'402'300'799;  // the end of the year 9999

void AddTimeOption(CLI::App& app, const char* name, std::optional<int64_t>& time_ms, const std::string& help) {
  app.add_option_function<std::string>(
         name, [&time_ms](const std::string& text) { time_ms = ParseTime(text); }, help)
      ->check([](const std::string& text) {
        return ParseTime(text)
                   ? std::string()
                   : StrCat("'", text, "' is not a time: write 2024-05-01, 2024-05-01T12:00:00Z or seconds");
      })
      ->type_name("TIME");
}

}  // namespace

void AddStoreOption(CLI::App& app, std::string& store) {
  app.add_option("--store", store,
                 "A server, as mongodb://HOST:PORT, or a directory, which is open while the command runs.")
      ->check([](const std::string& name) {
        return name.empty() ? "--store needs a directory or a mongodb:// URI"
                            : std::string(CheckStoreName(name).message());
      })
      ->type_name("DIR|URI")
      ->capture_default_str();
}

Result<std::unique_ptr<Clients>> OpenStore(const std::string& store) { return OpenStoreFor(store, StoreUse::kCreate); }

Result<std::unique_ptr<Clients>> OpenStoreFor(const std::string& store, StoreUse use) {
  log::Init(log::Level::kWarning);
  auto opened = braid::OpenStore(store, use);
  if (opened.ok() || opened.error().code() != Code::kNamespaceNotFound) return opened;
  return Status(Code::kNamespaceNotFound,
                StrCat("--store ", store, ": ", opened.error().message(), "; nothing was created"));
}

std::string DirectoryBeside(const std::string& store) {
  if (IsUri(store)) return ".";
  const std::filesystem::path path = std::filesystem::absolute(store).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).parent_path().string();
}

void AddNamespaceOptions(CLI::App& app, std::string& database, std::string& collection) {
  app.add_option("-d,--db", database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_option("-c,--collection", collection, "Collection.")->type_name("NAME");
}

Result<std::string> ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(Code::kBadValue, StrCat("cannot read ", path, ": ", strerror(errno)));
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

Result<std::vector<std::string>> ReadFields(const std::string& list, const std::string& file) {
  if (!list.empty() && !file.empty()) return Status(Code::kBadValue, "give --fields or --fieldFile, not both");
  std::string text = list;
  if (!file.empty()) {
    BRAID_TRY(text, ReadWholeFile(file));
  }
  std::vector<std::string> fields;
  for (std::string_view field : Split(text, file.empty() ? ',' : '\n')) {
    while (field.ends_with('\r') || field.ends_with(' ')) field.remove_suffix(1);
    while (field.starts_with(' ')) field.remove_prefix(1);
    if (!field.empty()) fields.emplace_back(field);
  }
  return fields;
}

std::optional<int64_t> ParseTime(const std::string& whole) {
  // "….250Z": thousandths of a second, as UtcText() writes them.
  std::string text = whole;
  int64_t millis = 0;
  if (const size_t point = text.size() < 5 ? 0 : text.size() - 5; text.ends_with('Z') && text[point] == '.') {
    const auto [end, error] = std::from_chars(text.data() + point + 1, text.data() + point + 4, millis);
    if (error != std::errc() || end != text.data() + point + 4 || millis < 0) return std::nullopt;
    text.replace(point, std::string::npos, "Z");
  }
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size() && seconds >= 0 && seconds <= kSecondsMax) {
    return seconds * 1000;
  }
  for (const char* format : {"%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S"}) {
    tm parts{};
    const char* rest = strptime(text.c_str(), format, &parts);
    if (rest == nullptr || *rest != '\0') continue;
    // A day that its month does not have, or a second too many, would be taken for one of the next.
    const tm given = parts;
    const int64_t time = timegm(&parts);
    if (parts.tm_mday != given.tm_mday || parts.tm_sec != given.tm_sec) return std::nullopt;
    return time * 1000 + millis;
  }
  return std::nullopt;
}

void AddTimeRange(CLI::App& app, TimeRange& range, const std::string& what) {
  AddTimeOption(app, "--from", range.from_ms, StrCat("Only ", what, " at this time or later."));
  AddTimeOption(app, "--to", range.to_ms, StrCat("Only ", what, " before this time."));
}

}  // namespace braid::cli
