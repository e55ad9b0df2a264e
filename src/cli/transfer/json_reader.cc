// JSON: where a document starts and ends is found here, what is in it is left to libbson. After a broken document
// reading goes on at the next line, so one bad line costs one document.
#include <vector>

#include "base/strings.h"
#include "cli/transfer/reader.h"

namespace braid::transfer {
namespace {

// A document of 16 MiB is longer as text: numbers and binaries are written out with their types.
constexpr size_t kTextMax = size_t{128} << 20;

bool IsSpace(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class JsonReader final : public Reader {
 public:
  explicit JsonReader(std::unique_ptr<Input> input) : input_(std::move(input)) {}

  Result<std::optional<Item>> Next() override {
    if (!started_) Start();
    BRAID_TRY(const bool more, SkipToItem());
    if (!more) return std::optional<Item>();
    Item item;
    input_->Mark();
    item.line = input_->line();
    if (const char* fault = FindEnd(); fault != nullptr) {
      BRAID_CHECK_OK(input_->failure());
      item.error = Status(Code::kFailedToParse, fault);
      Recover();
      return std::optional<Item>(std::move(item));
    }
    if (auto parsed = client::ParseJson(input_->Marked()); parsed.ok())
      item.document = *std::move(parsed);
    else
      item.error = parsed.error();
    comma_due_ = in_array_;
    return std::optional<Item>(std::move(item));
  }

 private:
  void Start() {
    started_ = true;
    for (const unsigned char c : {0xEF, 0xBB, 0xBF}) {  // a byte order mark
      if (input_->Peek() != c) break;
      input_->Skip();
    }
    SkipSpace();
    if (input_->Peek() != '[') return;
    input_->Skip();
    in_array_ = true;
  }

  void SkipSpace() {
    while (IsSpace(input_->Peek())) input_->Skip();
  }

  // Between documents. False at the end.
  Result<bool> SkipToItem() {
    while (true) {
      SkipSpace();
      const int c = input_->Peek();
      if (c == Input::kEnd) {
        BRAID_CHECK_OK(input_->failure());
        if (in_array_) return Status(Code::kFailedToParse, "the file ends inside its array: a ] is missing");
        return false;
      }
      if (in_array_ && c == ']') {
        in_array_ = false;
        comma_due_ = false;
        input_->Skip();
        continue;
      }
      if (c != ',' || !comma_due_) return true;
      comma_due_ = false;
      input_->Skip();
    }
  }

  // From the opening to the closing brace; or what is wrong. Looks only at strings and brackets, and at whether a { may
  // be where it is: where a line lacks its end, the next one starts a document in an impossible place.
  const char* FindEnd() {
    if (input_->Peek() != '{') return "a document must start with {";
    nesting_.clear();
    char last = ':';
    for (int c = input_->Peek(); c != Input::kEnd; c = input_->Peek()) {
      if (IsSpace(c)) {
        input_->Skip();
        continue;
      }
      if (c == '{' && !(last == ':' || (nesting_.back() == '[' && (last == ',' || last == '[')))) {
        return "the document has no end: a } is missing";
      }
      input_->Skip();
      if (c == '{' || c == '[') nesting_.push_back(static_cast<char>(c));
      if (c == '}' || c == ']') {
        if (nesting_.back() != (c == '}' ? '{' : '[')) return "brackets do not match";
        nesting_.pop_back();
        if (nesting_.empty()) return nullptr;
      }
      if (c == '"' && !SkipString()) return "a string has no end on its line";
      if (input_->marked_bytes() > kTextMax) return "the document is too long";
      last = static_cast<char>(c);
    }
    return "the document has no end: a } is missing";
  }

  bool SkipString() {
    for (int c = input_->Peek(); c != Input::kEnd && c != '\n'; c = input_->Peek()) {
      input_->Skip();
      if (c == '"') return true;
      if (c == '\\' && input_->Peek() != Input::kEnd) input_->Skip();
    }
    return false;
  }

  // To the line after the one where the broken document starts.
  void Recover() {
    input_->Rewind();
    input_->SkipLine();
    comma_due_ = false;
  }

  std::unique_ptr<Input> input_;
  std::vector<char> nesting_;
  bool started_ = false;
  bool in_array_ = false;
  bool comma_due_ = false;
};

}  // namespace

std::unique_ptr<Reader> NewJsonReader(std::unique_ptr<Input> input) {
  return std::make_unique<JsonReader>(std::move(input));
}

}  // namespace braid::transfer
