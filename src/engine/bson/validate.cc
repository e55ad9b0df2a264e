#include "engine/bson/validate.h"

#include <algorithm>

#include "base/strings.h"

namespace braid::bson {
namespace {

/// Walks the bytes of one document; every read is preceded by a check that the bytes are there.
class Validator {
 public:
  explicit Validator(std::string_view bytes) : start_(bytes.data()), at_(bytes.data()), size_(bytes.size()) {}

  Status Run() { return Fields(start_ + size_, 0); }

 private:
  Status Fail(const char* what) const {
    return Status(Code::kInvalidBSON, StrCat("invalid BSON at offset ", at_ - start_, ": ", what));
  }
  /// Bytes between here and `end`.
  size_t Left(const char* end) const { return static_cast<size_t>(end - at_); }

  /// Steps over `size` bytes; false if there are fewer.
  bool Skip(size_t size, const char* end) {
    if (Left(end) < size) return false;
    at_ += size;
    return true;
  }
  /// Steps over text that ends in NUL.
  bool SkipText(const char* end) {
    const void* nul = std::memchr(at_, 0, Left(end));
    if (nul == nullptr) return false;
    at_ = static_cast<const char*>(nul) + 1;
    return true;
  }
  /// Steps over a length and that many bytes, of which the last must be NUL.
  bool SkipString(const char* end) {
    if (Left(end) < 5) return false;
    const size_t size = Load<uint32_t>(at_);
    if (size < 1 || size > Left(end) - 4 || at_[4 + size - 1] != '\0') return false;
    at_ += 4 + size;
    return true;
  }
  bool SkipBinary(const char* end) {
    if (Left(end) < 5) return false;
    const size_t size = Load<uint32_t>(at_);
    if (size > Left(end) - 5) return false;
    at_ += 5 + size;
    return true;
  }

  /// The document here must end at or before `end`, at its own length.
  Status Nested(const char* end, int depth) {
    if (depth > kNestingMax) {
      return Status(Code::kOverflow,
                    StrCat("BSON nested deeper than ", kNestingMax, " levels at offset ", at_ - start_));
    }
    if (Left(end) < 5) return Fail("document cut short");
    const size_t size = Load<uint32_t>(at_);
    if (size < 5 || size > Left(end)) return Fail("document length out of range");
    return Fields(at_ + size, depth);
  }

  Status CodeWithScope(const char* end, int depth) {
    constexpr size_t kSizeMin = 4 + 5 + 5;
    if (Left(end) < kSizeMin) return Fail("code with scope cut short");
    const size_t size = Load<uint32_t>(at_);
    if (size < kSizeMin || size > Left(end)) return Fail("length of code with scope out of range");
    const char* const own_end = at_ + size;
    at_ += 4;
    if (!SkipString(own_end)) return Fail("bad string");
    BRAID_CHECK_OK(Nested(own_end, depth));
    return at_ == own_end ? Status() : Fail("code with scope longer than its parts");
  }

  /// The fields of the document that starts here and ends at `end`.
  Status Fields(const char* end, int depth) {
    at_ += 4;
    while (at_ < end) {
      const auto type = static_cast<Type>(static_cast<uint8_t>(*at_));
      if (type == Type::kMissing) {
        ++at_;
        return at_ == end ? Status() : Fail("document ends before its length");
      }
      ++at_;
      if (!SkipText(end)) return Fail("field name without end");
      BRAID_CHECK_OK(Field(type, end, depth));
    }
    return Fail("document without terminator");
  }

  Status Field(Type type, const char* end, int depth) {
    switch (type) {
      case Type::kDouble:
      case Type::kDate:
      case Type::kTimestamp:
      case Type::kInt64: return Skip(8, end) ? Status() : Fail("8-byte value cut short");
      case Type::kInt32: return Skip(4, end) ? Status() : Fail("4-byte value cut short");
      case Type::kDecimal128: return Skip(16, end) ? Status() : Fail("decimal cut short");
      case Type::kObjectId: return Skip(12, end) ? Status() : Fail("ObjectId cut short");
      case Type::kBool:
        if (Left(end) < 1 || static_cast<uint8_t>(*at_) > 1) return Fail("boolean other than 0 and 1");
        ++at_;
        return Status();
      case Type::kString:
      case Type::kCode:
      case Type::kSymbol: return SkipString(end) ? Status() : Fail("bad string");
      case Type::kBinary: return SkipBinary(end) ? Status() : Fail("bad binary");
      case Type::kRegex: return SkipText(end) && SkipText(end) ? Status() : Fail("bad regular expression");
      case Type::kDbPointer: return SkipString(end) && Skip(12, end) ? Status() : Fail("bad DBPointer");
      case Type::kObject:
      case Type::kArray: return Nested(end, depth + 1);
      case Type::kCodeWScope: return CodeWithScope(end, depth + 1);
      case Type::kUndefined:
      case Type::kNull:
      case Type::kMaxKey:
      case Type::kMinKey: return Status();
      case Type::kMissing: break;
    }
    return Fail("unknown type");
  }

  const char* const start_;
  const char* at_;
  const size_t size_;
};

}  // namespace

Status CheckPathLength(std::string_view path) {
  if (static_cast<size_t>(std::ranges::count(path, '.')) < kPathComponentsMax) return {};
  return {Code::kOverflow, StrCat("FieldPath is too long: it has more than ", kPathComponentsMax, " components")};
}

bool NestsDeeperThan(const Value& value, int levels) {
  if (!value.Is(Type::kObject) && !value.Is(Type::kArray)) return false;
  if (levels <= 0) return true;
  for (const Element& element : value.AsView()) {
    if (NestsDeeperThan(element.value, levels - 1)) return true;
  }
  return false;
}

Result<View> Validate(std::string_view bytes) {
  if (bytes.size() < 5) return Status(Code::kInvalidBSON, "invalid BSON at offset 0: document cut short");
  const size_t size = Load<uint32_t>(bytes.data());
  if (size < 5 || size > bytes.size()) {
    return Status(Code::kInvalidBSON,
                  StrCat("invalid BSON at offset 0: length ", size, " of ", bytes.size(), " bytes"));
  }
  BRAID_CHECK_OK(Validator(bytes.substr(0, size)).Run());
  return View(bytes);
}

}  // namespace braid::bson
