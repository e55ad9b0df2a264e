// The records of YCSB: a key "user<number>" and ten fields of a hundred bytes.
#pragma once

#include <bson/bson.h>

#include <cstdint>
#include <string_view>

#include "base/random.h"

namespace braid::bench {

constexpr int kFields = 10;
constexpr size_t kFieldBytes = 100;
constexpr std::string_view kFieldNames[kFields] = {"field0", "field1", "field2", "field3", "field4",
                                                   "field5", "field6", "field7", "field8", "field9"};

/// The key of record `number`: "user" and the decimal digits of its hash, so that neighbours in time are none in order.
class Key {
 public:
  explicit Key(uint64_t number);
  std::string_view view() const { return {text_, length_}; }

 private:
  char text_[24];
  size_t length_;
};

/// Printable random bytes for one field.
struct FieldValue {
  char bytes[kFieldBytes];
  void Fill(Random& random);
  std::string_view view() const { return {bytes, kFieldBytes}; }
};

struct Record {
  FieldValue fields[kFields];
  void Fill(Random& random);
};

/// Records of which a scatter query finds some: those with the same `group`, which is the number by this.
constexpr uint64_t kGroupRecords = 10;

/// {_id: key, field0: <binary>, …}: what is sent to the server, and what bare RocksDB stores as the value.
void AppendRecord(bson_t* document, std::string_view key, const Record& record);

}  // namespace braid::bench
