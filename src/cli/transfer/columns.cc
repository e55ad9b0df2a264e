#include "cli/transfer/columns.h"

#include <algorithm>

#include "base/strings.h"

namespace braid::transfer {
namespace {

struct TypeName {
  std::string_view name;
  ColumnType type;
  DateLayout::Notation notation = DateLayout::Notation::kGo;
};
constexpr TypeName kTypes[] = {
    // sorted by name
    {"auto", ColumnType::kAuto},
    {"binary", ColumnType::kBinary},
    {"boolean", ColumnType::kBoolean},
    {"date", ColumnType::kDate, DateLayout::Notation::kGo},
    {"date_go", ColumnType::kDate, DateLayout::Notation::kGo},
    {"date_ms", ColumnType::kDate, DateLayout::Notation::kMs},
    {"date_oracle", ColumnType::kDate, DateLayout::Notation::kOracle},
    {"decimal", ColumnType::kDecimal},
    {"double", ColumnType::kDouble},
    {"int32", ColumnType::kInt32},
    {"int64", ColumnType::kInt64},
    {"string", ColumnType::kString},
};

Status BadColumn(std::string_view text, std::string_view why) {
  return Status(Code::kBadValue, StrCat("column '", text, "': ", why));
}

Result<BinaryEncoding> ParseEncoding(std::string_view text, std::string_view argument) {
  if (argument == "base64") return BinaryEncoding::kBase64;
  if (argument == "base32") return BinaryEncoding::kBase32;
  if (argument == "hex") return BinaryEncoding::kHex;
  return BadColumn(text, "binary() takes base64, base32 or hex");
}

}  // namespace

Result<Column> ParseColumn(std::string_view text, bool typed) {
  Column column;
  if (!typed) {
    column.name = text;
    return column;
  }
  const size_t open = text.find('(');
  const size_t dot = open == std::string_view::npos ? open : text.rfind('.', open);
  if (dot == std::string_view::npos || dot == 0 || !text.ends_with(')')) {
    return BadColumn(
        text, "with types a column is written name.type(argument), such as age.int32() or born.date(2006-01-02)");
  }
  column.name = text.substr(0, dot);
  const std::string_view type_name = text.substr(dot + 1, open - dot - 1);
  const std::string_view argument = text.substr(open + 1, text.size() - open - 2);
  const auto* type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.name == type_name; });
  if (type == std::end(kTypes)) {
    std::string known;
    for (const TypeName& t : kTypes) known += StrCat(known.empty() ? "" : ", ", t.name);
    return BadColumn(text, StrCat("no type '", type_name, "'; the types are ", known));
  }
  column.type = type->type;
  if (column.type == ColumnType::kBinary) {
    BRAID_TRY(column.encoding, ParseEncoding(text, argument));
  } else if (column.type == ColumnType::kDate) {
    auto layout = DateLayout::Parse(argument, type->notation);
    if (!layout.ok()) return BadColumn(text, layout.error().message());
    column.layout = *std::move(layout);
  } else if (!argument.empty()) {
    return BadColumn(text, StrCat(type_name, "() takes no argument"));
  }
  return column;
}

Result<Columns> Columns::Make(const std::vector<std::string>& fields, bool typed) {
  Columns columns;
  for (const std::string& field : fields) {
    BRAID_TRY(Column column, ParseColumn(field, typed));
    BRAID_CHECK_OK(columns.Add(column.name, static_cast<int>(columns.columns_.size())));
    columns.columns_.push_back(std::move(column));
  }
  return columns;
}

Status Columns::Add(std::string_view path, int column) {
  Node* node = &root_;
  for (const std::string_view part : Split(path, '.')) {
    if (part.empty())
      return BadColumn(path, "a name must not be empty, nor start or end with a dot, nor have two in a row");
    if (node->column >= 0)
      return BadColumn(path, StrCat("cannot stand beside column '", columns_[static_cast<size_t>(node->column)].name,
                                    "', which it would be inside of"));
    auto child =
        std::find_if(node->children.begin(), node->children.end(), [&](const Node& n) { return n.name == part; });
    if (child == node->children.end()) child = node->children.insert(child, Node{std::string(part), -1, {}});
    node = &*child;
  }
  if (node->column >= 0) return BadColumn(path, "is there twice");
  if (!node->children.empty()) return BadColumn(path, "cannot stand beside a column inside of it");
  node->column = column;
  return {};
}

bool Columns::HasValue(const Node& node, const std::vector<std::string>& values, const Rules& rules) {
  if (node.column >= 0) {
    const auto i = static_cast<size_t>(node.column);
    return i < values.size() && !(rules.ignore_blanks && values[i].empty());
  }
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const Node& child) { return HasValue(child, values, rules); });
}

Status Columns::AppendNode(bson_t* document, const Node& node, const std::vector<std::string>& values,
                           const Rules& rules) const {
  if (!HasValue(node, values, rules)) return {};
  if (node.column >= 0) {
    const Column& column = columns_[static_cast<size_t>(node.column)];
    const std::string& text = values[static_cast<size_t>(node.column)];
    const Status status = AppendTyped(document, node.name, column, text);
    if (status.ok() || rules.grace == ParseGrace::kSkipField) return {};
    if (rules.grace != ParseGrace::kAutoCast) return status;
    AppendAuto(document, node.name, text);
    return {};
  }
  bson_t inner;
  bson_append_document_begin(document, node.name.data(), static_cast<int>(node.name.size()), &inner);
  Status status;
  for (const Node& child : node.children) {
    status = AppendNode(&inner, child, values, rules);
    if (!status.ok()) break;
  }
  bson_append_document_end(document, &inner);
  return status;
}

Status Columns::AppendRow(bson_t* document, const std::vector<std::string>& values, const Rules& rules) const {
  for (const Node& child : root_.children) BRAID_CHECK_OK(AppendNode(document, child, values, rules));
  for (size_t i = columns_.size(); i < values.size(); ++i) {
    if (!(rules.ignore_blanks && values[i].empty())) AppendAuto(document, StrCat("field", i), values[i]);
  }
  return {};
}

}  // namespace braid::transfer
