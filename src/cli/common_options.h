// Options that many subcommands have: --store, the collection that a tool works on, lists of fields, and moments
// (--from, --to).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braid/embedded.h"
#include "braid/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace braid::cli {

/// Adds --store DIR|mongodb://…
void AddStoreOption(CLI::App& app, std::string& store);

/// The store that the option names, created if it does not exist; of the engine's log only warnings and errors are
/// shown.
Result<std::unique_ptr<Clients>> OpenStore(const std::string& store);
/// The same for another use. For subcommands that only read, a mistyped directory is an error and is not created.
Result<std::unique_ptr<Clients>> OpenStoreFor(const std::string& store, StoreUse use);

/// The directory that holds the store, so that what is put there is on the same disk; "." for a URI.
std::string DirectoryBeside(const std::string& store);

/// Adds -d,--db and -c,--collection.
void AddNamespaceOptions(CLI::App& app, std::string& database, std::string& collection);

/// Field names, from a comma-separated list or from a file with one per line; only one of the two may be given.
Result<std::vector<std::string>> ReadFields(const std::string& list, const std::string& file);

/// The whole file.
Result<std::string> ReadWholeFile(const std::string& path);

/// Milliseconds since 1970, from seconds since 1970 ("1700000000") or UTC ("2024-05-01", "2024-05-01T12:00:00",
/// with or without a Z at its end, "2024-05-01T12:00:00.250Z"); nothing if it is neither.
std::optional<int64_t> ParseTime(const std::string& text);

/// A half-open period; each end may be missing.
struct TimeRange {
  std::optional<int64_t> from_ms;
  std::optional<int64_t> to_ms;
};

/// Adds --from and --to; `what` is said of the time that they compare, such as "received".
void AddTimeRange(CLI::App& app, TimeRange& range, const std::string& what);

}  // namespace braid::cli
