#include "engine/commands/command_shape.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/commands/arg_reader.h"

namespace braid::commands {
namespace {

constexpr size_t kElementsMax = 3;
constexpr size_t kNameBytesMax = 128;

// Fields whose numbers say how a command is run, not what is in documents. Sorted, as the next table.
constexpr std::string_view kOfTheRun[] = {"cursor", "fields", "hint", "projection", "sort"};
// Fields at the top whose text is a name.
constexpr std::string_view kNames[] = {"collection", "hint", "key"};

bool IsNumeric(const bson::Value& value) { return value.IsNumber() || value.Is(bson::Type::kBool); }

class Shape {
 public:
  explicit Shape(size_t bytes_max) : bytes_max_(bytes_max) {}

  bool Full() const { return out_.size() >= bytes_max_; }
  std::string Take() { return std::move(out_); }

  void Name(std::string_view name, bool first) {
    out_ += first ? " " : ", ";
    out_ += name.substr(0, kNameBytesMax);
    out_ += ": ";
  }
  void Text(std::string_view text) { out_ += text; }

  void Show(const bson::Value& value, bool shows_numbers) {
    if (value.Is(bson::Type::kObject)) {
      Object(value.AsView(), shows_numbers);
    } else if (value.Is(bson::Type::kArray)) {
      List(value.AsView(), shows_numbers);
    } else {
      out_ += shows_numbers && IsNumeric(value) ? bson::ToShell(value) : "?";
    }
  }

 private:
  void Object(bson::View object, bool shows_numbers) {
    out_ += "{";
    bool first = true;
    for (const auto& [name, value] : object) {
      if (Full()) break;
      Name(name, first);
      Show(value, shows_numbers);
      first = false;
    }
    out_ += Full() ? " … }" : first ? "}" : " }";
  }

  void List(bson::View list, bool shows_numbers) {
    out_ += "[";
    size_t count = 0;
    for (const auto& [name, value] : list) {
      if (count == kElementsMax || Full()) {
        out_ += ", …";
        break;
      }
      if (count++ > 0) out_ += ", ";
      Show(value, shows_numbers);
    }
    out_ += "]";
  }

  const size_t bytes_max_;
  std::string out_;
};

}  // namespace

std::string CommandShape(const Request& request, size_t bytes_max) {
  Shape shape(bytes_max);
  shape.Text("{");
  bool first = true;
  for (const auto& [name, value] : request.body) {
    if (shape.Full()) break;
    if (IsCommonField(name)) continue;
    shape.Name(name, first);
    const bool is_name = first || std::ranges::binary_search(kNames, name);
    if (is_name && value.Is(bson::Type::kString)) {
      shape.Text(bson::ToShell(value));
    } else {
      shape.Show(value, IsNumeric(value) || std::ranges::binary_search(kOfTheRun, name));
    }
    first = false;
  }
  for (const DocumentSequence& sequence : request.sequences) {
    shape.Name(sequence.name, first);
    shape.Text(StrCat("[", sequence.documents.size(), " documents]"));
    first = false;
  }
  shape.Text(shape.Full() ? " … }" : " }");
  return shape.Take();
}

}  // namespace braid::commands
