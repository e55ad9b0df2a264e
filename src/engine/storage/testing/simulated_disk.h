// The disk behind FaultyFileSystem: its files as the running system sees them, and the parts that would survive a power
// failure.
#pragma once

#include <rocksdb/io_status.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "engine/storage/testing/faulty_file_system.h"

namespace braid::storage {

struct File {
  std::string bytes;
  size_t synced = 0;                            // up to here on the disk,
  std::vector<std::pair<size_t, size_t>> gone;  // except for what a failed sync has forgotten
  // Sectors that were written over, and what the disk has there: until the next sync, or for good if that has failed.
  std::map<size_t, std::string> overwritten;
  std::map<size_t, std::string> forgotten;
};
using Files = std::map<std::string, std::shared_ptr<File>>;

/// Names that change together; null: the name goes.
using NameChange = std::vector<std::pair<std::string, std::shared_ptr<File>>>;

struct SimulatedDisk {
  explicit SimulatedDisk(uint64_t seed) : random(seed) {}

  mutable Mutex mu;
  Random random BRAID_GUARDED_BY(mu);
  Files files BRAID_GUARDED_BY(mu);                      // as the running system sees them
  Files durable BRAID_GUARDED_BY(mu);                    // the names on the disk
  std::vector<NameChange> changes BRAID_GUARDED_BY(mu);  // since the directory was synced
  std::set<std::string> directories BRAID_GUARDED_BY(mu);
  std::set<std::string> locks BRAID_GUARDED_BY(mu);
  std::optional<Fault> armed BRAID_GUARDED_BY(mu);
  uint64_t left BRAID_GUARDED_BY(mu) = 0;  // calls (or bytes) until it happens
  bool fired BRAID_GUARDED_BY(mu) = false;
  bool again BRAID_GUARDED_BY(mu) = false;  // after one failure all further calls fail
  bool dead BRAID_GUARDED_BY(mu) = false;

  bool Due(Fault fault) BRAID_REQUIRES(mu);       ///< counts a call of this kind; true if it is to fail
  rocksdb::IOStatus Change() BRAID_REQUIRES(mu);  ///< before every change: the power may fail here
  rocksdb::IOStatus Alive() const BRAID_REQUIRES(mu);
  void LosePower() BRAID_REQUIRES(mu);

  std::shared_ptr<File> Find(const std::string& name) const BRAID_REQUIRES(mu);  ///< null: there is none
  void Rename(NameChange change) BRAID_REQUIRES(mu);
  rocksdb::IOStatus SyncNames() BRAID_REQUIRES(mu);
  rocksdb::IOStatus Append(File& file, std::string_view bytes) BRAID_REQUIRES(mu);
  rocksdb::IOStatus Overwrite(File& file, uint64_t offset, std::string_view bytes)
      BRAID_REQUIRES(mu);  ///< does not lengthen the file
  rocksdb::IOStatus Sync(File& file) BRAID_REQUIRES(mu);
  rocksdb::IOStatus Read(const File& file, uint64_t offset, size_t count, rocksdb::Slice* result, char* scratch)
      BRAID_REQUIRES(mu);
};

}  // namespace braid::storage
