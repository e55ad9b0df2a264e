#include "bench/workload.h"

#include <charconv>
#include <cstring>

#include "base/strings.h"
#include "bench/generators.h"

namespace braid::bench {
namespace {

constexpr Workload kWorkloads[] = {
    // sorted by name; the shares: read, update, insert, scan, read-modify-write; the rest is for ShardWorkloads
    {"a", "Update heavy: half reads, half updates.", {50, 50, 0, 0, 0}, Distribution::kZipfian, false, false},
    {"b", "Read mostly: 5 % updates.", {95, 5, 0, 0, 0}, Distribution::kZipfian, false, false},
    {"c", "Read only.", {100, 0, 0, 0, 0}, Distribution::kZipfian, false, false},
    {"d", "Read latest: 5 % inserts, reads of the newest.", {95, 0, 5, 0, 0}, Distribution::kLatest, false, false},
    {"e", "Short ranges: scans of 1 to 100, 5 % inserts.", {0, 0, 5, 95, 0}, Distribution::kZipfian, false, false},
    {"f", "Half reads, half read-modify-writes.", {50, 0, 0, 0, 50}, Distribution::kZipfian, false, false},
    {"find", "Point finds by _id.", {100, 0, 0, 0, 0}, Distribution::kUniform, false, false},
    {"hot", "Updates of one record by everybody.", {0, 100, 0, 0, 0}, Distribution::kUniform, false, false, true},
    {"insert", "Single inserts into an empty collection.", {0, 0, 100, 0, 0}, Distribution::kUniform, true, false},
    {"insertmany", "Inserts in batches of --batch.", {0, 0, 100, 0, 0}, Distribution::kUniform, true, true},
};

constexpr std::string_view kNames[kOperations] = {"read",  "update", "insert", "scan", "readModifyWrite",
                                                  "merge", "search"};

constexpr Workload kShardWorkloads[] = {
    {"find", "Point finds by _id.", {100, 0, 0, 0, 0, 0, 0}, Distribution::kUniform, false, false},
    {"merge", "A few records by an index, sorted.", {0, 0, 0, 0, 0, 100, 0}, Distribution::kUniform, false, false},
    {"search", "One record without an index.", {0, 0, 0, 0, 0, 0, 100}, Distribution::kUniform, false, false},
};

}  // namespace

Key::Key(uint64_t number) {
  std::memcpy(text_, "user", 4);
  length_ = static_cast<size_t>(std::to_chars(text_ + 4, text_ + sizeof text_, FnvHash64(number)).ptr - text_);
}

void FieldValue::Fill(Random& random) {
  // Six bits a character, ten characters a draw: 64 printable characters from '0' on.
  for (size_t i = 0; i < kFieldBytes;) {
    uint64_t bits = random.Next();
    for (int n = 0; n < 10 && i < kFieldBytes; ++n, ++i, bits >>= 6) bytes[i] = static_cast<char>('0' + (bits & 63));
  }
}

void Record::Fill(Random& random) {
  for (FieldValue& field : fields) field.Fill(random);
}

void AppendRecord(bson_t* document, std::string_view key, const Record& record) {
  bson_append_utf8(document, "_id", 3, key.data(), static_cast<int>(key.size()));
  for (int i = 0; i < kFields; ++i) {
    bson_append_binary(document, kFieldNames[i].data(), static_cast<int>(kFieldNames[i].size()), BSON_SUBTYPE_BINARY,
                       reinterpret_cast<const uint8_t*>(record.fields[i].bytes), kFieldBytes);
  }
}

const Workload kLoad = {"load", "Filling the store.", {0, 0, 100, 0, 0}, Distribution::kUniform, true, true};

std::string_view Name(Operation operation) { return kNames[static_cast<int>(operation)]; }

std::span<const Workload> Workloads() { return kWorkloads; }
std::span<const Workload> ShardWorkloads() { return kShardWorkloads; }

Result<const Workload*> FindWorkload(std::string_view name) {
  std::string known;
  for (const Workload& workload : kWorkloads) {
    if (workload.name == name) return &workload;
    known += StrCat(known.empty() ? "" : ", ", workload.name);
  }
  return Status(Code::kBadValue, StrCat("unknown workload '", name, "'; choose from ", known));
}

}  // namespace braid::bench
