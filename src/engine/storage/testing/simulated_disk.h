// The disk behind FaultyFileSystem: its files as the running system sees them, and what of them would survive.
#pragma once

#include <rocksdb/io_status.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engine/storage/testing/faulty_file_system.h"

namespace braid::storage {

struct File {
  std::string bytes;
  size_t synced = 0;                            // up to here on the disk,
  std::vector<std::pair<size_t, size_t>> gone;  // except for what a failed sync has forgotten
};
using Files = std::map<std::string, std::shared_ptr<File>>;

/// Names that change together; null: the name goes.
using NameChange = std::vector<std::pair<std::string, std::shared_ptr<File>>>;

/// Its functions are called with `mu` held.
struct SimulatedDisk {
  explicit SimulatedDisk(uint64_t seed) : random(seed) {}

  mutable std::mutex mu;  // guards what follows
  Random random;
  Files files;                      // as the running system sees them
  Files durable;                    // the names on the disk
  std::vector<NameChange> changes;  // since the directory was synced
  std::set<std::string> directories;
  std::set<std::string> locks;
  std::optional<Fault> armed;
  uint64_t left = 0;  // calls (or bytes) until it happens
  bool fired = false;
  bool again = false;  // what failed once goes on failing
  bool dead = false;

  bool Due(Fault fault);       ///< counts a call of this kind; true if it is to fail
  rocksdb::IOStatus Change();  ///< before every change: the power may fail here
  rocksdb::IOStatus Alive() const;
  void LosePower();

  std::shared_ptr<File> Find(const std::string& name) const;  ///< null: there is none
  void Rename(NameChange change);
  rocksdb::IOStatus SyncNames();
  rocksdb::IOStatus Append(File& file, std::string_view bytes);
  rocksdb::IOStatus Sync(File& file);
  rocksdb::IOStatus Read(const File& file, uint64_t offset, size_t count, rocksdb::Slice* result, char* scratch);
};

}  // namespace braid::storage
