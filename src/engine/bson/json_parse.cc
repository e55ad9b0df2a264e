// FromJson: a JSON object into BSON bytes, in one pass. libbson's reader is not used because it takes the query
// operators $type and $regex for values of version 1.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/bson/validate.h"

namespace braid::bson {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Document> Run() {
    if (!IsUtf8(text_)) return Status(Code::kFailedToParse, "the JSON text is not UTF-8");
    SkipSpace();
    if (!Ahead('{')) return Fail("an object was expected");
    std::string out;
    BRAID_TRY(const Type type, Object(&out, 0));
    SkipSpace();
    if (at_ != text_.size()) return Fail("text after the object");
    if (type != Type::kObject) return Fail("an object was expected, not a single value");
    return Document(std::move(out));
  }

 private:
  Status Fail(std::string_view what) const {
    return Status(Code::kFailedToParse, StrCat("bad JSON at offset ", at_, ": ", what));
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool Ahead(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool Take(char c) {
    SkipSpace();
    if (!Ahead(c)) return false;
    ++at_;
    return true;
  }

  /// Appends the bytes of the next value and returns its type.
  Result<Type> Value(std::string* out, int depth) {
    SkipSpace();
    if (at_ == text_.size()) return Fail("the text ends too early");
    switch (text_[at_]) {
      case '{': return Object(out, depth);
      case '[': return Array(out, depth);
      case '"': return String(out);
      case 't': return Word("true", Type::kBool, std::string_view("\1", 1), out);
      case 'f': return Word("false", Type::kBool, std::string_view("\0", 1), out);
      case 'n': return Word("null", Type::kNull, "", out);
      default: return Number(out);
    }
  }

  Result<Type> Word(std::string_view word, Type type, std::string_view bytes, std::string* out) {
    if (!text_.substr(at_).starts_with(word)) return Fail("unknown word");
    at_ += word.size();
    out->append(bytes);
    return type;
  }

  /// Type, name and value of one element; the type is known last.
  Status Element(std::string* out, std::string_view name, int depth) {
    const size_t start = out->size();
    out->push_back('\0');
    out->append(name);
    out->push_back('\0');
    BRAID_TRY(const Type type, Value(out, depth));
    (*out)[start] = static_cast<char>(type);
    return Status();
  }

  static void Close(std::string* out, size_t start) {
    out->push_back('\0');
    const auto size = static_cast<uint32_t>(out->size() - start);
    std::memcpy(out->data() + start, &size, sizeof(size));
  }

  Result<Type> Object(std::string* out, int depth) {
    if (depth > kDepthMax) return Fail("nested too deep");
    const size_t start = out->size();
    out->append(4, '\0');
    ++at_;  // {
    if (!Take('}')) {
      std::string name;
      do {
        SkipSpace();
        if (!Ahead('"')) return Fail("a name in quotes was expected");
        name.clear();
        BRAID_CHECK_OK(Text(&name));
        if (name.find('\0') != std::string::npos) return Fail("a name holds a NUL");
        if (!Take(':')) return Fail("':' was expected");
        BRAID_CHECK_OK(Element(out, name, depth + 1));
      } while (Take(','));
      if (!Take('}')) return Fail("',' or '}' was expected");
    }
    Close(out, start);
    BRAID_TRY(const std::optional<OwnedValue> typed, json::TypedValue(View(out->data() + start)));
    if (!typed) return Type::kObject;
    out->resize(start);
    out->append(typed->value().bytes());
    return typed->value().type();
  }

  Result<Type> Array(std::string* out, int depth) {
    if (depth > kDepthMax) return Fail("nested too deep");
    const size_t start = out->size();
    out->append(4, '\0');
    ++at_;  // [
    if (!Take(']')) {
      size_t index = 0;
      do BRAID_CHECK_OK(Element(out, std::to_string(index++), depth + 1));
      while (Take(','));
      if (!Take(']')) return Fail("',' or ']' was expected");
    }
    Close(out, start);
    return Type::kArray;
  }

  Result<Type> String(std::string* out) {
    const size_t start = out->size();
    out->append(4, '\0');
    BRAID_CHECK_OK(Text(out));
    out->push_back('\0');
    const auto size = static_cast<uint32_t>(out->size() - start - 4);
    std::memcpy(out->data() + start, &size, sizeof(size));
    return Type::kString;
  }

  /// Appends the contents of the string that comes next.
  Status Text(std::string* out) {
    ++at_;  // "
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) return Fail("a control character in a string");
      ++at_;
      if (c != '\\') {
        out->push_back(c);
      } else {
        BRAID_CHECK_OK(Escape(out));
      }
    }
    if (at_ == text_.size()) return Fail("a string without end");
    ++at_;
    return Status();
  }

  Status Escape(std::string* out) {
    if (at_ == text_.size()) return Fail("a string without end");
    const char c = text_[at_++];
    switch (c) {
      case 'b': out->push_back('\b'); return Status();
      case 'f': out->push_back('\f'); return Status();
      case 'n': out->push_back('\n'); return Status();
      case 'r': out->push_back('\r'); return Status();
      case 't': out->push_back('\t'); return Status();
      case '"':
      case '\\':
      case '/': out->push_back(c); return Status();
      case 'u': break;
      default: return Fail("unknown escape");
    }
    BRAID_TRY(uint32_t code, Hex4());
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      BRAID_TRY(const uint32_t low, Hex4());
      if (low < 0xDC00 || low > 0xDFFF) return Fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code >= 0xD800 && code <= 0xDFFF) return Fail("half of a surrogate pair");
    AppendUtf8(out, code);
    return Status();
  }

  Result<uint32_t> Hex4() {
    uint32_t code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4)
      return Fail("four hex digits were expected");
    at_ += 4;
    return code;
  }

  static void AppendUtf8(std::string* out, uint32_t code) {
    const auto add = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
      add(code);
      return;
    }
    if (code < 0x800) {
      add(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        add(0xE0 | code >> 12);
      } else {
        add(0xF0 | code >> 18);
        add(0x80 | ((code >> 12) & 0x3F));
      }
      add(0x80 | ((code >> 6) & 0x3F));
    }
    add(0x80 | (code & 0x3F));
  }

  /// int32 if it fits, else int64, else double; with a point or exponent always double.
  Result<Type> Number(std::string* out) {
    const size_t size = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size()) - at_;
    const std::string_view digits = text_.substr(at_, size);
    const char* const end = digits.data() + digits.size();
    int64_t integer = 0;
    double real = 0;
    if (const auto [last, error] = std::from_chars(digits.data(), end, integer);
        error == std::errc() && last == end && size > 0) {
      at_ += size;
      if (integer >= std::numeric_limits<int32_t>::min() && integer <= std::numeric_limits<int32_t>::max()) {
        return Raw(Type::kInt32, static_cast<int32_t>(integer), out);
      }
      return Raw(Type::kInt64, integer, out);
    }
    if (const auto [last, error] = std::from_chars(digits.data(), end, real);
        error != std::errc() || last != end || size == 0) {
      return Fail("a value was expected");
    }
    at_ += size;
    return Raw(Type::kDouble, real, out);
  }

  template <typename T>
  static Type Raw(Type type, T v, std::string* out) {
    out->append(reinterpret_cast<const char*>(&v), sizeof(v));
    return type;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<Document> FromJson(std::string_view text) { return Parser(text).Run(); }

Document J(std::string_view text) {
  std::string json(text);
  std::replace(json.begin(), json.end(), '\'', '"');
  Result<Document> document = FromJson(json);
  if (!document.ok()) {
    std::fprintf(stderr, "%s: %s\n", document.error().ToString().c_str(), json.c_str());
    std::abort();
  }
  return *std::move(document);
}

}  // namespace braid::bson
