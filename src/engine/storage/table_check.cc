#include "engine/storage/table_check.h"

#include <rocksdb/table.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::storage {

using rocksdb::IOStatus;

namespace {

constexpr uint64_t kTableMagic = 0x88e241b785f4cff7;
constexpr uint32_t kTableVersion = 5;  // options.cc
constexpr size_t kFooterBytes = 53;
constexpr size_t kPlacesEnd = 41;  // of the footer
constexpr size_t kTrailerBytes = 5;
constexpr size_t kReadAtOnce = 4 << 10;  // usually all that is needed

template <typename Number>
Number Fixed(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

std::optional<uint64_t> TakeVarint(std::string_view* bytes) {
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

/// The place of a block; its trailer follows it.
struct BlockPlace {
  uint64_t offset;
  uint64_t size;

  bool EndsBy(uint64_t limit) const {
    return limit >= kTrailerBytes && size <= limit - kTrailerBytes && offset <= limit - kTrailerBytes - size;
  }
  uint64_t end() const { return offset + size + kTrailerBytes; }
};

std::optional<BlockPlace> TakePlace(std::string_view* bytes) {
  const auto offset = TakeVarint(bytes);
  const auto size = offset ? TakeVarint(bytes) : std::nullopt;
  if (!size) return std::nullopt;
  return BlockPlace{*offset, *size};
}

/// The place that a metaindex whose checksum is right has under this name. Its entries: shared with the key before (0:
/// restarts at each) | key's size | value's size | key | value; after them u32s that a walk does not need.
std::optional<BlockPlace> FindPlace(std::string_view metaindex, std::string_view name) {
  if (metaindex.size() < 4) return std::nullopt;
  const uint64_t restarts = Fixed<uint32_t>(metaindex.data() + metaindex.size() - 4);
  if (restarts >= metaindex.size() / 4) return std::nullopt;
  metaindex.remove_suffix(4 * (restarts + 1));
  while (!metaindex.empty()) {
    const auto shared = TakeVarint(&metaindex);
    const auto key = TakeVarint(&metaindex);
    const auto value = TakeVarint(&metaindex);
    if (!shared || !key || !value || *shared != 0) return std::nullopt;
    if (*key > metaindex.size() || *value > metaindex.size() - *key) return std::nullopt;
    std::string_view place = metaindex.substr(*key, *value);
    if (metaindex.substr(0, *key) == name) return TakePlace(&place);
    metaindex.remove_prefix(*key + *value);
  }
  return std::nullopt;
}

class TableEnd {
 public:
  TableEnd(const rocksdb::FSRandomAccessFile& file, const std::string& name, uint64_t size)
      : file_(file), name_(name), size_(size) {}

  IOStatus Check() {
    if (size_ < kFooterBytes) return Damaged("it is too short");
    if (IOStatus status = ReadFrom(size_ - std::min<uint64_t>(size_, kReadAtOnce)); !status.ok()) return status;
    const std::string_view footer = At(size_ - kFooterBytes, kFooterBytes);
    std::string_view places = footer.substr(1, kPlacesEnd - 1);
    const auto metaindex = TakePlace(&places);
    const auto index = metaindex ? TakePlace(&places) : std::nullopt;
    if (footer[0] != rocksdb::kXXH3 || !index || places.find_first_not_of('\0') != std::string_view::npos ||
        Fixed<uint32_t>(footer.data() + kPlacesEnd) != kTableVersion ||
        Fixed<uint64_t>(footer.data() + kPlacesEnd + 4) != kTableMagic) {
      return Damaged("its footer is not one");
    }
    const uint64_t blocks_end = size_ - kFooterBytes;
    if (!metaindex->EndsBy(blocks_end) || metaindex->end() != blocks_end || !index->EndsBy(metaindex->offset)) {
      return Damaged("its footer points to where no block is");
    }
    if (IOStatus status = CheckBlock(*metaindex, "metaindex"); !status.ok()) return status;
    const auto properties = FindPlace(At(metaindex->offset, metaindex->size), "rocksdb.properties");
    if (!properties || !properties->EndsBy(metaindex->offset)) return Damaged("its metaindex has no properties");
    return CheckBlock(*properties, "properties");
  }

 private:
  IOStatus Damaged(std::string_view how) const {
    return IOStatus::Corruption(StrCat("the table ", name_, " is damaged: ", how));
  }

  IOStatus ReadFrom(uint64_t offset) {
    BRAID_ASSERT(offset <= size_);  // places were compared with the size
    tail_.resize(size_ - offset);
    rocksdb::Slice read;
    IOStatus status = file_.Read(offset, tail_.size(), {}, &read, tail_.data(), nullptr);
    if (!status.ok()) return status;
    if (read.size() != tail_.size()) return Damaged("it is shorter than its size");
    if (read.data() != tail_.data()) tail_.assign(read.data(), read.size());
    return status;
  }

  /// Of what has been read.
  std::string_view At(uint64_t offset, size_t size) const {
    BRAID_ASSERT(offset >= size_ - tail_.size() && size <= size_ - offset);
    return std::string_view(tail_).substr(offset - (size_ - tail_.size()), size);
  }

  IOStatus CheckBlock(const BlockPlace& place, std::string_view what) {
    if (size_ - place.offset > tail_.size()) {
      if (IOStatus status = ReadFrom(place.offset); !status.ok()) return status;
    }
    const std::string_view trailer = At(place.offset + place.size, kTrailerBytes);
    // These two kinds of block are never compressed. The last byte enters RocksDB's checksum apart, and 0 changes
    // nothing.
    const auto sum = static_cast<uint32_t>(XXH3_64bits(At(place.offset, place.size).data(), place.size));
    if (trailer[0] == rocksdb::kNoCompression && Fixed<uint32_t>(trailer.data() + 1) == sum) return IOStatus::OK();
    return Damaged(StrCat("its ", what, " does not match its checksum"));
  }

  const rocksdb::FSRandomAccessFile& file_;
  const std::string& name_;
  const uint64_t size_;
  std::string tail_;  // the last bytes of the file
};

}  // namespace

IOStatus TableCheck::NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                                         std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                         rocksdb::IODebugContext* debug) {
  IOStatus status = target()->NewRandomAccessFile(name, options, result, debug);
  if (!status.ok() || !name.ends_with(".sst")) return status;
  uint64_t size = 0;
  status = target()->GetFileSize(name, {}, &size, debug);
  if (status.ok()) status = TableEnd(**result, name, size).Check();
  if (!status.ok()) result->reset();
  return status;
}

}  // namespace braid::storage
