// The sources of documents and operations: files and a server.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "braid/clients.h"
#include "braid/status.h"
#include "cli/advise/advice.h"
#include "cli/advise/operation.h"
#include "cli/advise/sample.h"

namespace braid::advise {

/// A document of libbson's in place.
inline bson::View ViewOf(const bson_t* document) {
  return bson::View(reinterpret_cast<const char*>(bson_get_data(document)));
}

struct Place {
  std::string database;
  std::string collection;
};

/// At most `most` documents of a file of JSON, spread over it evenly, in its order. "FILE:LINE: reason" if one is
/// broken.
Result<Sample> ReadSample(const std::string& file, size_t most, const std::atomic<bool>& stop);
/// At most `most` documents of the collection, chosen at random; all if there are no more.
Result<Sample> FetchSample(Clients& clients, const Place& place, size_t most, const std::atomic<bool>& stop);

struct ListedOperations {
  std::vector<Operation> operations;
  std::string collection;  ///< the one that all are on
  uint64_t skipped = 0;    ///< on other collections
};
/// The operations of a file, one per line. If `collection` is empty, all must be on the same one.
Result<ListedOperations> ReadOperations(const std::string& file, const std::string& collection);

/// What the server has recorded of the collection so far. kCommandNotSupported if it cannot record.
Result<std::vector<Operation>> FetchOperations(Clients& clients, const Place& place);

struct Recording {
  double seconds = 0;
  double samples_per_second = 50;
};
/// Makes the server record operations for a while; ends early and orderly when `stop` is set. kCommandNotSupported if
/// it cannot.
Status Record(Clients& clients, const Place& place, const Recording& recording, const std::atomic<bool>& stop);

/// Unique indexes of the collection, except that of _id.
Result<std::vector<UniqueIndex>> FetchUniqueIndexes(Clients& clients, const Place& place);

}  // namespace braid::advise
