// CSV and TSV: rows into documents. A row that is broken costs itself: reading goes on at the next line.
#include "base/strings.h"
#include "cli/transfer/reader.h"

namespace braid::transfer {
namespace {

constexpr size_t kRowMax = size_t{64} << 20;

class TableReader final : public Reader {
 public:
  TableReader(std::unique_ptr<Input> input, const TableOptions& options)
      : input_(std::move(input)), options_(options), rules_{options.ignore_blanks, options.grace} {}

  Status Start() {
    for (const unsigned char c : {0xEF, 0xBB, 0xBF}) {  // a byte order mark
      if (input_->Peek() != c) break;
      input_->Skip();
    }
    std::vector<std::string> fields = options_.fields;
    if (fields.empty()) {
      if (const char* fault = ReadRow(); fault != nullptr) {
        return Status(Code::kFailedToParse, StrCat("line 1, which names the columns: ", fault));
      }
      fields = values_;
      for (std::string& field : fields) Trim(field);
      if (fields.empty()) return Status(Code::kBadValue, "the file is empty: its first line should name the columns");
    }
    BRAID_TRY(columns_, Columns::Make(fields, options_.typed));
    return {};
  }

  Result<std::optional<Item>> Next() override {
    SkipBlankLines();
    if (input_->Peek() == Input::kEnd) {
      BRAID_CHECK_OK(input_->failure());
      return std::optional<Item>();
    }
    Item item;
    item.line = input_->line();
    if (const char* fault = ReadRow(); fault != nullptr) {
      BRAID_CHECK_OK(input_->failure());
      input_->Rewind();
      input_->SkipLine();
      item.error = Status(Code::kFailedToParse, fault);
      return std::optional<Item>(std::move(item));
    }
    if (options_.latin1) ConvertLatin1();
    item.document.reset(bson_new());
    item.error = columns_.AppendRow(item.document.get(), values_, rules_);
    if (item.error.ok()) item.error = CheckText();
    if (item.error.ok()) return std::optional<Item>(std::move(item));
    if (options_.typed && options_.grace == ParseGrace::kStop) {
      return Status(item.error.code(), StrCat("line ", item.line, ": ", item.error.message(),
                                              "; see --parseGrace to continue after such a value"));
    }
    item.document.reset();
    return std::optional<Item>(std::move(item));
  }

 private:
  static void Trim(std::string& text) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
  }

  void ConvertLatin1() {
    for (std::string& value : values_) {
      if (IsUtf8(value)) continue;
      std::string converted;
      for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80) converted += static_cast<char>(0xC0 | (byte >> 6));
        converted += byte < 0x80 ? c : static_cast<char>(0x80 | (byte & 0x3F));
      }
      value = std::move(converted);
    }
  }

  Status CheckText() const {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!IsUtf8(values_[i])) return Status(Code::kFailedToParse, StrCat("value ", i + 1, " is not UTF-8"));
    }
    return {};
  }

  void SkipBlankLines() {
    while (input_->Peek() == '\n' || input_->Peek() == '\r') input_->Skip();
  }

  // A line end, if one is here, is passed.
  bool AtLineEnd() {
    if (input_->Peek() == '\r') {
      input_->Skip();
      if (input_->Peek() == '\n') input_->Skip();
      return true;
    }
    if (input_->Peek() == '\n') {
      input_->Skip();
      return true;
    }
    return input_->Peek() == Input::kEnd;
  }

  // The values of one row; or what is wrong with it. The mark is at its start.
  const char* ReadRow() {
    input_->Mark();
    values_.clear();
    if (input_->Peek() == Input::kEnd) return nullptr;
    while (true) {
      values_.emplace_back();
      const char* fault =
          options_.separator == ',' && input_->Peek() == '"' ? ReadQuoted(values_.back()) : ReadPlain(values_.back());
      if (fault != nullptr) return fault;
      if (input_->Peek() != options_.separator)
        return AtLineEnd() ? nullptr : "a quote must be followed by a comma or the end of the line";
      input_->Skip();
    }
  }

  const char* ReadQuoted(std::string& value) {
    input_->Skip();
    for (int c = input_->Peek(); c != Input::kEnd; c = input_->Peek()) {
      input_->Skip();
      if (c == '"') {
        if (input_->Peek() != '"') return nullptr;
        input_->Skip();
      }
      value += static_cast<char>(c);
      if (input_->marked_bytes() > kRowMax) return "the row is too long: is a quote missing?";
    }
    return "a quote is opened and never closed";
  }

  const char* ReadPlain(std::string& value) {
    for (int c = input_->Peek(); c != Input::kEnd && c != options_.separator && c != '\n'; c = input_->Peek()) {
      if (c == '"' && options_.separator == ',')
        return "a quote inside a value that is not quoted; write \"a \"\"b\"\" c\"";
      input_->Skip();
      value += static_cast<char>(c);
      if (input_->marked_bytes() > kRowMax) return "the row is too long";
    }
    if (input_->Peek() != options_.separator && value.ends_with('\r')) value.pop_back();
    return nullptr;
  }

  std::unique_ptr<Input> input_;
  const TableOptions options_;
  const Columns::Rules rules_;
  Columns columns_;
  std::vector<std::string> values_;
};

}  // namespace

Result<std::unique_ptr<Reader>> NewTableReader(std::unique_ptr<Input> input, const TableOptions& options) {
  auto reader = std::make_unique<TableReader>(std::move(input), options);
  BRAID_CHECK_OK(reader->Start());
  return std::unique_ptr<Reader>(std::move(reader));
}

}  // namespace braid::transfer
