// What a workload runs on: a server, or bare RocksDB.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/workload.h"
#include "braid/status.h"

namespace braid::bench {

/// One record to insert.
struct Insert {
  uint64_t number;
  Record record;
};

/// One thread's connection. Every call is one operation, finished when it returns.
class Session {
 public:
  virtual ~Session() = default;
  /// The whole record. A key that is absent is an error: every key that is asked for was stored.
  virtual Status Read(std::string_view key) = 0;
  /// Replaces one field.
  virtual Status Update(std::string_view key, int field, const FieldValue& value) = 0;
  /// All of them in one request.
  virtual Status InsertBatch(const std::vector<Insert>& records) = 0;
  /// Up to `count` records from `start` on, in the order of keys.
  virtual Status Scan(std::string_view start, int count) = 0;
  /// The newest few of the records with this `group`, by an index.
  virtual Status Merge(uint64_t group);
  /// The record with this `number`, for which there is no index: all are looked at.
  virtual Status Search(uint64_t number);
};

/// What a process has used so far.
struct Usage {
  std::optional<int64_t> cpu_micros;
  std::optional<int64_t> resident_mb;
  std::optional<int64_t> syncs;  // of its log
};

class Target {
 public:
  virtual ~Target() = default;
  virtual Result<std::unique_ptr<Session>> Connect() = 0;
  /// Removes every record.
  virtual Status Reset() = 0;
  /// Of the process that does the work.
  virtual Result<Usage> ReadUsage() = 0;
};

struct ServerTarget {
  std::string uri;
  std::string database = "ycsb";
  std::string collection = "usertable";
  /// Whether a write is answered after it is on disk (writeConcern j).
  bool durable = true;
  int sessions_max = 1;
  /// Sharded by {_id: "hashed"}; records have `number` and `group` too, and an index {group: 1, number: 1}.
  bool sharded = false;
};
/// A MongoDB server through libmongoc, one connection a session.
Result<std::unique_ptr<Target>> ConnectTo(const ServerTarget& server);

/// RocksDB in a new directory inside `parent`, removed at the end. Each write is synced if `durable`.
Result<std::unique_ptr<Target>> OpenBare(const std::string& parent, bool durable);

}  // namespace braid::bench
