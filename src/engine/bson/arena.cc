// Arena: chunks that grow, so that few of them are needed for large values and little is wasted by small ones.
#include "engine/bson/arena.h"

#include <algorithm>
#include <string>

namespace braid::bson {
namespace {

constexpr size_t kFirstChunk = 1024;
constexpr size_t kLargestChunk = 1 << 20;
constexpr size_t kKeptChunk = 64 * 1024;

}  // namespace

bool Arena::AddChunk(size_t size, bool force) {
  const size_t grown = std::clamp(2 * chunk_bytes_, kFirstChunk, kLargestChunk);
  const size_t wanted = std::max(size + 2 * kAlignment, grown);
  if (limited_) {
    if (force) {
      held_.Take(chunk_bytes_ + wanted);
    } else if (!held_.Fits(chunk_bytes_ + wanted)) {
      return false;
    }
  }
  used_ += static_cast<size_t>(at_ - start());
  chunks_.push_back({std::make_unique_for_overwrite<char[]>(wanted), wanted});
  chunk_bytes_ += wanted;
  at_ = chunks_.back().bytes.get();
  end_ = at_ + wanted;
  return true;
}

void Arena::Rewind(const Mark& mark) {
  while (chunks_.size() > mark.chunks) {
    chunk_bytes_ -= chunks_.back().size;
    chunks_.pop_back();
  }
  at_ = mark.at;
  end_ = chunks_.empty() ? inline_ + kInline : chunks_.back().bytes.get() + chunks_.back().size;
  used_ = mark.used - static_cast<size_t>(at_ - start());
  if (limited_) held_.Shrink(chunk_bytes_);
}

bool Arena::HoldsSince(const Mark& mark, const char* bytes) const {
  const auto within = [bytes](const char* start, const char* end) { return bytes >= start && bytes < end; };
  if (chunks_.size() == mark.chunks) return within(mark.at, at_);
  const char* const marked =
      mark.chunks == 0 ? inline_ + kInline : chunks_[mark.chunks - 1].bytes.get() + chunks_[mark.chunks - 1].size;
  if (within(mark.at, marked)) return true;
  return std::any_of(chunks_.begin() + static_cast<ptrdiff_t>(mark.chunks), chunks_.end(),
                     [&](const Chunk& chunk) { return within(chunk.bytes.get(), chunk.bytes.get() + chunk.size); });
}

Value Arena::Compact(const Mark& mark, const Value& value) {
  if (value.bytes().empty() || !HoldsSince(mark, value.bytes().data())) {
    Rewind(mark);
    return value;
  }
  const std::string kept(value.bytes());
  Rewind(mark);
  return Copy(Value(value.type(), kept.data(), static_cast<uint32_t>(kept.size())));
}

void Arena::Clear() {
  if (chunks_.size() == 1 && chunk_bytes_ <= kKeptChunk) {  // the next document will need as much
    at_ = chunks_.back().bytes.get();
    used_ = 0;
  } else {
    Rewind({0, inline_, 0});
  }
}

Value Arena::Empty(Type type) {
  static constexpr char kDocument[] = {5, 0, 0, 0, 0};
  static constexpr char kString[] = {1, 0, 0, 0, 0};
  switch (type) {
    case Type::kObject:
    case Type::kArray: return {type, kDocument, sizeof(kDocument)};
    case Type::kString: return {type, kString, sizeof(kString)};
    default: return Null();
  }
}

Value Arena::Copy(const Value& value) {
  const std::string_view bytes = value.bytes();
  char* const copy = TryAllocate(bytes.size());
  if (copy == nullptr) return Empty(value.type());
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return {value.type(), copy, static_cast<uint32_t>(bytes.size())};
}

Value Arena::String(std::string_view text) {
  char* const at = TryAllocate(text.size() + 5);
  if (at == nullptr) return Empty(Type::kString);
  const auto size = static_cast<uint32_t>(text.size() + 1);
  std::memcpy(at, &size, 4);
  std::memcpy(at + 4, text.data(), text.size());
  at[4 + text.size()] = '\0';
  return {Type::kString, at, size + 4};
}

}  // namespace braid::bson
