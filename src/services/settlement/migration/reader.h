// MigratingReader: outputs in their order, from wherever they have to be read at the time (C6).
#pragma once

#include <functional>
#include <memory>

#include "services/settlement/migration/mirror.h"

namespace braid::settlement::migration {

/// The place that readers must read from now.
enum class ReadSource { kOldTable, kChains };
Result<ReadSource> ReadSourceOf(StateStore& store);

/// Readers that follow the phase of the migration see each output once and none missing, whatever happens to the
/// migration meanwhile: the old table has everything until it is dropped, and from the switch on the chains have
/// everything up to the mirror. One thread at a time. The Clients must outlive it.
class MigratingReader {
 public:
  static Result<std::unique_ptr<MigratingReader>> Open(Clients& clients, const MigrationOptions& options);

  using OnOutput = std::function<Status(const Output&)>;
  /// Every output from a sequence on, up to the newest as of now. An error of `each` ends it.
  Status Read(int64_t from_sequence, const OnOutput& each);

  Result<ReadSource> Source() { return ReadSourceOf(*store_); }

 private:
  MigratingReader(std::unique_ptr<StateStore> store, std::unique_ptr<Mirror> mirror)
      : store_(std::move(store)), mirror_(std::move(mirror)) {}
  struct Span {
    int64_t from = 0;
    int64_t to = 0;
  };
  Status ReadChains(const Span& span, const OnOutput& each);
  Result<int64_t> ReadTable(const Span& span, const OnOutput& each);

  const std::unique_ptr<StateStore> store_;
  const std::unique_ptr<Mirror> mirror_;
  OutputParser parser_;
};

}  // namespace braid::settlement::migration
