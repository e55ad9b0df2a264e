#include "cli/namespace_option.h"

#include <string.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <sstream>

#include "base/strings.h"

namespace braid::cli {

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

}  // namespace braid::cli
