#include "cli/backup/format.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::backup {
namespace {

constexpr int64_t kFormat = 1;

std::string HashText(uint64_t hash) { return fmt::format("{:016x}", hash); }

uint64_t HashNumber(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

BackupFile FileOf(const bson_t* row) {
  return {.name = std::string(client::TextOf(row, "name")),
          .size = static_cast<uint64_t>(client::IntegerOf(row, "size")),
          .table = client::BoolOf(row, "table"),
          .mark = static_cast<int64_t>(HashNumber(client::TextOf(row, "mark"))),
          .hash = HashNumber(client::TextOf(row, "xxh3"))};
}

// Places of the header's fields.
constexpr size_t kNameBytes = 100;
constexpr size_t kModeAt = 100;
constexpr size_t kOwnerAt = 108;
constexpr size_t kGroupAt = 116;
constexpr size_t kSizeAt = 124;
constexpr size_t kTimeAt = 136;
constexpr size_t kSumAt = 148;
constexpr size_t kSumBytes = 8;
constexpr size_t kTypeAt = 156;
constexpr size_t kMagicAt = 257;
constexpr std::string_view kMagic("ustar\00000", 8);

/// The sum of all bytes, the field of the sum itself taken as spaces.
unsigned SumOf(std::string_view block) {
  unsigned sum = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    sum += i >= kSumAt && i < kSumAt + kSumBytes ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

std::optional<uint64_t> Octal(std::string_view field) {
  uint64_t number = 0;
  const auto parsed = std::from_chars(field.data(), field.data() + field.size(), number, 8);
  if (parsed.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

struct Hasher::State {
  XXH3_state_t* hash = XXH3_createState();
};

Hasher::Hasher() : state_(std::make_unique<State>()) { XXH3_64bits_reset(state_->hash); }
Hasher::~Hasher() { XXH3_freeState(state_->hash); }
void Hasher::Add(std::string_view bytes) { XXH3_64bits_update(state_->hash, bytes.data(), bytes.size()); }
uint64_t Hasher::hash() const { return XXH3_64bits_digest(state_->hash); }

uint64_t BackupList::bytes() const {
  uint64_t bytes = 0;
  for (const BackupFile& file : files) bytes += file.size;
  return bytes;
}

std::string BackupList::ToText() const {
  client::Bson rows;
  size_t row_count = 0;
  for (const BackupFile& file : files) {
    client::Bson row;
    row.Text("name", file.name).Integer("size", static_cast<int64_t>(file.size)).Text("xxh3", HashText(file.hash));
    row.Bool("table", file.table).Text("mark", HashText(static_cast<uint64_t>(file.mark)));
    rows.Document(StrCat(row_count++).c_str(), row);
  }
  client::Bson list;
  list.Integer("format", kFormat).Integer("time_ms", time_millis).Text("store", store).Integer("position", position);
  list.Array("files", rows);
  const std::string line = StrCat(client::ToJson(list), "\n");
  return StrCat(line, HashText(XXH3_64bits(line.data(), line.size())), "\n");
}

Result<BackupList> BackupList::Parse(std::string_view text, std::string_view where) {
  const size_t line_end = text.find('\n');
  const std::string_view line = text.substr(0, line_end == std::string_view::npos ? 0 : line_end + 1);
  if (line.empty() || text.substr(line.size()) != StrCat(HashText(XXH3_64bits(line.data(), line.size())), "\n")) {
    return Status(Code::kStorageCorrupt, StrCat("the list of files, ", where, ", is damaged"));
  }
  BRAID_TRY(const client::BsonPtr document, client::ParseJson(line));
  if (const int64_t format = client::IntegerOf(document.get(), "format"); format != kFormat) {
    return Status(Code::kUnsupportedFormat,
                  StrCat(where, " is of format ", format, "; this program knows format ", kFormat));
  }
  BackupList list{.time_millis = client::IntegerOf(document.get(), "time_ms"),
                  .store = std::string(client::TextOf(document.get(), "store")),
                  .position = client::IntegerOf(document.get(), "position"),
                  .files = {}};
  bson_iter_t rows;
  bson_iter_t row;
  if (!bson_iter_init_find(&rows, document.get(), "files") || !bson_iter_recurse(&rows, &row)) return list;
  while (bson_iter_next(&row)) {
    const uint8_t* data = nullptr;
    uint32_t size = 0;
    bson_t file;
    if (!BSON_ITER_HOLDS_DOCUMENT(&row)) continue;
    bson_iter_document(&row, &size, &data);
    if (bson_init_static(&file, data, size)) list.files.push_back(FileOf(&file));
  }
  return list;
}

std::string TarHeader(const TarEntry& entry, int64_t time_seconds) {
  std::string block(kTarBlock, '\0');
  const auto put = [&block](size_t at, std::string_view text) { block.replace(at, text.size(), text); };
  put(0, entry.name);
  put(kModeAt, "0000600");
  put(kOwnerAt, "0000000");
  put(kGroupAt, "0000000");
  put(kSizeAt, fmt::format("{:011o}", entry.size));
  put(kTimeAt, fmt::format("{:011o}", static_cast<uint64_t>(time_seconds)));
  put(kTypeAt, "0");
  put(kMagicAt, kMagic);
  put(kSumAt, fmt::format("{:06o}", SumOf(block)) + std::string("\0 ", 2));
  return block;
}

std::optional<TarEntry> ReadTarHeader(std::string_view block) {
  if (block.size() != kTarBlock || block.substr(kMagicAt, kMagic.size()) != kMagic || block[kTypeAt] != '0') return {};
  const auto size = Octal(block.substr(kSizeAt, 12));
  const auto sum = Octal(block.substr(kSumAt, kSumBytes));
  if (!size || !sum || *sum != SumOf(block)) return {};
  const std::string_view name = block.substr(0, kNameBytes);
  return TarEntry{std::string(name.substr(0, name.find('\0'))), *size};
}

}  // namespace braid::backup
