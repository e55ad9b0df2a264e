// Which collection a tool works on, and lists of fields.
#pragma once

#include <string>
#include <vector>

#include "braid/status.h"

namespace CLI {
class App;
}

namespace braid::cli {

/// Adds -d,--db and -c,--collection.
void AddNamespaceOptions(CLI::App& app, std::string& database, std::string& collection);

/// Field names: those of a list with commas, or one a line of a file; one of both may be given.
Result<std::vector<std::string>> ReadFields(const std::string& list, const std::string& file);

/// The whole file.
Result<std::string> ReadWholeFile(const std::string& path);

}  // namespace braid::cli
