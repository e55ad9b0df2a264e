#include "engine/bson/key_encoding.h"

#include "base/assert.h"
#include "engine/bson/collation.h"
#include "engine/bson/compare.h"
#include "engine/bson/key_bytes.h"

namespace braid::bson {
namespace {

using key::Put;
using key::PutBigEndian;

void AppendAscending(std::string* out, const Value& value, const Collation* collation);

/// Text that may hold any byte: 00 becomes 01 01, 01 becomes 01 02, and 00 ends it.
void PutText(std::string* out, std::string_view text) {
  size_t plain = 0;  // bytes from here on still to be copied
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte > 1) continue;
    out->append(text.substr(plain, i - plain));
    Put(out, 1);
    Put(out, byte + 1);
    plain = i + 1;
  }
  out->append(text.substr(plain));
  Put(out, 0);
}

void PutString(std::string* out, std::string_view text, const Collation* collation) {
  if (collation == nullptr) return PutText(out, text);
  PutText(out, collation->SortKey(text));
}

/// One byte below 255, else 255 and four bytes.
void PutSize(std::string* out, size_t size) {
  if (size < 0xff) return Put(out, static_cast<uint8_t>(size));
  Put(out, 0xff);
  PutBigEndian(out, size, 4);
}

void PutFields(std::string* out, View fields, const Collation* collation) {
  for (const Element& element : fields) {
    Put(out, key::ByteOf(element.value.type()));
    out->append(element.name);
    Put(out, 0);
    AppendAscending(out, element.value, collation);
  }
  Put(out, key::kEnd);
}

void PutElements(std::string* out, View array, const Collation* collation) {
  for (const Element& element : array) AppendAscending(out, element.value, collation);
  Put(out, key::kEnd);
}

void AppendAscending(std::string* out, const Value& value, const Collation* collation) {
  if (value.IsNumber()) return key::PutNumber(out, value);
  Put(out, key::ByteOf(value.type()));
  switch (value.type()) {
    case Type::kString:
    case Type::kSymbol: return PutString(out, value.AsString(), collation);
    case Type::kObject: return PutFields(out, value.AsView(), collation);
    case Type::kArray: return PutElements(out, value.AsView(), collation);
    case Type::kBinary: {
      const Binary binary = value.AsBinary();
      PutSize(out, binary.bytes.size());
      Put(out, binary.subtype);
      out->append(binary.bytes);
      return;
    }
    case Type::kObjectId: out->append(value.AsObjectId()); return;
    case Type::kBool: return Put(out, value.AsBool() ? 1 : 0);
    case Type::kDate: return PutBigEndian(out, static_cast<uint64_t>(value.AsDate()) ^ (uint64_t{1} << 63), 8);
    case Type::kTimestamp: return PutBigEndian(out, value.AsTimestamp(), 8);
    case Type::kRegex: {
      const Regex regex = value.AsRegex();
      out->append(regex.pattern);
      Put(out, 0);
      out->append(regex.options);
      return Put(out, 0);
    }
    case Type::kDbPointer:
      PutSize(out, value.bytes().size());
      out->append(value.bytes());
      return;
    case Type::kCode: return PutText(out, value.AsString());
    case Type::kCodeWScope: PutText(out, value.AsCodeOfScope()); return PutFields(out, value.AsScope(), collation);
    default: return;  // the type says it all
  }
}

/// Steps over an encoded value, field by field of the format above.
class Stepper {
 public:
  Stepper(std::string_view key, bool descending) : key_(key), mask_(descending ? 0xff : 0) {}

  size_t Step() {
    Value();
    BRAID_ASSERT(at_ <= key_.size());
    return at_;
  }

 private:
  uint8_t Byte(size_t at) const {
    BRAID_ASSERT(at < key_.size());
    return static_cast<uint8_t>(key_[at]) ^ mask_;
  }
  void Text() {
    const size_t end = key_.find(static_cast<char>(mask_), at_);
    BRAID_ASSERT(end != std::string_view::npos);
    at_ = end + 1;
  }
  size_t Size() {
    const uint8_t first = Byte(at_++);
    if (first < 0xff) return first;
    size_t size = 0;
    for (int i = 0; i < 4; ++i) size = size << 8 | Byte(at_++);
    return size;
  }
  void Fields() {
    while (Byte(at_++) != key::kEnd) {
      Text();
      Value();
    }
  }
  void Elements() {
    while (Byte(at_) != key::kEnd) Value();
    ++at_;
  }
  void Value() {
    const uint8_t type = Byte(at_);
    if (key::IsNumber(type)) {
      at_ += key::NumberSize(key_.substr(at_), mask_);
      return;
    }
    ++at_;
    switch (type) {
      case key::kString:
      case key::kCode: return Text();
      case key::kObject: return Fields();
      case key::kArray: return Elements();
      case key::kBinary: {
        const size_t size = Size();
        at_ += 1 + size;
        return;
      }
      case key::kObjectId: at_ += 12; return;
      case key::kBool: at_ += 1; return;
      case key::kDate:
      case key::kTimestamp: at_ += 8; return;
      case key::kRegex: Text(); return Text();
      case key::kDbPointer: {
        const size_t size = Size();
        at_ += size;
        return;
      }
      case key::kCodeWScope: Text(); return Fields();
      default: return;
    }
  }

  const std::string_view key_;
  const uint8_t mask_;
  size_t at_ = 0;
};

}  // namespace

void AppendKey(std::string* out, const Value& value, bool descending, const Collation* collation) {
  const size_t start = out->size();
  AppendAscending(out, value, collation);
  if (!descending) return;
  for (size_t i = start; i < out->size(); ++i) (*out)[i] = static_cast<char>(~(*out)[i]);
}

size_t KeySize(std::string_view key, bool descending) { return Stepper(key, descending).Step(); }

}  // namespace braid::bson
