// Arrays and documents are sized first and then written straight into the arena.
#include "engine/language/expression/values.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/assert.h"
#include "engine/bson/number.h"

namespace braid::query {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

char* PutBytes(char* at, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

void PutLength(char* at, size_t size) {
  const auto length = static_cast<uint32_t>(size);
  std::memcpy(at, &length, 4);
}

}  // namespace

size_t IndexDigits(size_t index) {
  size_t digits = 1;
  for (; index >= 10; index /= 10) ++digits;
  return digits;
}

Value FreeTemporaries(bson::Arena& arena, const bson::Arena::Mark& before, const Value& value) {
  constexpr size_t kWorthwhile = 64 * 1024;
  if (arena.UsedSince(before) < std::max(kWorthwhile, 2 * value.bytes().size())) return value;
  return arena.Compact(before, value);
}

size_t FindText(std::string_view text, std::string_view token, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  const void* const found = memmem(text.data() + from, text.size() - from, token.data(), token.size());
  return found == nullptr ? std::string_view::npos : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

Value MakeArray(bson::Arena& arena, std::span<const Value> items) {
  size_t size = 5;
  for (size_t i = 0; i < items.size(); ++i) size += 2 + IndexDigits(i) + items[i].bytes().size();
  char* const start = arena.TryAllocate(size);
  if (start == nullptr) return bson::Arena::Empty(Type::kArray);
  PutLength(start, size);
  char* at = start + 4;
  for (size_t i = 0; i < items.size(); ++i) {
    *at++ = static_cast<char>(items[i].missing() ? Type::kNull : items[i].type());
    at = std::to_chars(at, at + 20, i).ptr;
    *at++ = '\0';
    at = PutBytes(at, items[i].bytes());
  }
  BRAID_ASSERT(at + 1 == start + size);  // as it was sized
  *at = '\0';
  return {Type::kArray, start, static_cast<uint32_t>(size)};
}

Value MakeObject(bson::Arena& arena, std::span<const Element> fields) {
  size_t size = 5;
  for (const Element& field : fields) {
    if (!field.value.missing()) size += 2 + field.name.size() + field.value.bytes().size();
  }
  char* const start = arena.TryAllocate(size);
  if (start == nullptr) return bson::Arena::Empty(Type::kObject);
  PutLength(start, size);
  char* at = start + 4;
  for (const Element& field : fields) {
    if (field.value.missing()) continue;
    *at++ = static_cast<char>(field.value.type());
    at = PutBytes(at, field.name);
    *at++ = '\0';
    at = PutBytes(at, field.value.bytes());
  }
  BRAID_ASSERT(at + 1 == start + size);  // as it was sized
  *at = '\0';
  return {Type::kObject, start, static_cast<uint32_t>(size)};
}

Values ItemsOf(const Value& array) {
  Values items;
  for (const Element& item : array.AsView()) items.push_back(item.value);
  return items;
}

Value WalkArray(const Value& array, std::span<const std::string> path, bson::Arena& arena) {
  Values found;
  for (const Element& item : array.AsView()) {
    if (!item.value.Is(Type::kObject)) continue;
    Value below = Walk(item.value.AsView(), path, arena);
    if (!below.missing()) found.push_back(below);
  }
  return MakeArray(arena, found);
}

Value Walk(bson::View document, std::span<const std::string> path, bson::Arena& arena) {
  BRAID_ASSERT(!path.empty());
  Value value = document.Find(path.front());
  path = path.subspan(1);
  if (path.empty()) return value;
  if (value.Is(Type::kObject)) return Walk(value.AsView(), path, arena);
  if (value.Is(Type::kArray)) return WalkArray(value, path, arena);
  return {};
}

Result<IndexRange> IndexRangeOf(const Call& call) {
  IndexRange range;
  for (size_t i = 2; i < call.size(); ++i) {
    const std::string_view what = i == 2 ? "starting" : "ending";
    const std::optional<int32_t> exact = ExactInt32(call[i]);
    if (!exact) {
      return CallError(40096, call.name, " requires an integral ", what,
                       " index, found a value of type: ", TypeOf(call[i]));
    }
    if (*exact < 0) return CallError(40097, call.name, " requires a nonnegative ", what, " index, found: ", *exact);
    (i == 2 ? range.start : range.end) = *exact;
  }
  return range;
}

std::optional<int32_t> ExactInt32(const Value& value) {
  std::optional<bson::Number> number = bson::NumberOf(value);
  if (!number) return std::nullopt;
  std::optional<int64_t> exact = number->ToInt64Exact();
  if (!exact || *exact < std::numeric_limits<int32_t>::min() || *exact > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int32_t>(*exact);
}

}  // namespace braid::query
