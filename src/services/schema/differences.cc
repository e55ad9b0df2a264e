// Where two documents differ, field by field.
#include "services/schema/examine.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "client/handles.h"

namespace braid::schema {
namespace {

using client::Bson;

bool IsNumber(const bson_iter_t& value) {
  return BSON_ITER_HOLDS_INT32(&value) || BSON_ITER_HOLDS_INT64(&value) || BSON_ITER_HOLDS_DOUBLE(&value);
}

bool SameNumber(const bson_iter_t& a, const bson_iter_t& b) {
  if (BSON_ITER_HOLDS_DOUBLE(&a) || BSON_ITER_HOLDS_DOUBLE(&b)) {
    return bson_iter_as_double(&a) == bson_iter_as_double(&b);
  }
  return bson_iter_as_int64(&a) == bson_iter_as_int64(&b);
}

// The document or array that a value is; empty if it is neither.
Bson& Inside(const bson_iter_t& value, Bson& out) {
  const uint8_t* data = nullptr;
  uint32_t length = 0;
  if (BSON_ITER_HOLDS_DOCUMENT(&value)) bson_iter_document(&value, &length, &data);
  if (BSON_ITER_HOLDS_ARRAY(&value)) bson_iter_array(&value, &length, &data);
  bson_t view;
  if (data != nullptr && bson_init_static(&view, data, length)) bson_concat(out.get(), &view);
  return out;
}

// The value alone in a document, whose bytes can be compared and printed.
void Wrap(const bson_iter_t& value, Bson& out) { bson_append_iter(out.get(), "v", 1, &value); }

// In a struct of its own: as the argument of a template bson_iter_t would lose its alignment.
struct Element {
  bson_iter_t at;
};

std::vector<Element> Elements(const bson_t& document) {
  std::vector<Element> elements;
  Element element;
  if (!bson_iter_init(&element.at, &document)) return elements;
  while (bson_iter_next(&element.at)) elements.push_back(element);
  return elements;
}

bool SameValue(const bson_iter_t& a, const bson_iter_t& b);

bool SameInOrder(const bson_t& a, const bson_t& b) {
  const std::vector<Element> left = Elements(a);
  const std::vector<Element> right = Elements(b);
  return std::ranges::equal(left, right, SameValue, &Element::at, &Element::at);
}

bool SameValue(const bson_iter_t& a, const bson_iter_t& b) {
  if (IsNumber(a) && IsNumber(b)) return SameNumber(a, b);
  if (bson_iter_type(&a) != bson_iter_type(&b)) return false;
  Bson left;
  Bson right;
  if (BSON_ITER_HOLDS_DOCUMENT(&a)) {
    return FindDifferences(*Inside(a, left).get(), *Inside(b, right).get(), "").empty();
  }
  if (BSON_ITER_HOLDS_ARRAY(&a)) return SameInOrder(*Inside(a, left).get(), *Inside(b, right).get());
  Wrap(a, left);
  Wrap(b, right);
  return bson_equal(left.get(), right.get());
}

bool IsSet(std::string_view keyword) {
  return keyword == "required" || keyword == "enum" || keyword == "bsonType" || keyword == "type";
}

bool SameSet(const bson_t& a, const bson_t& b) {
  const std::vector<Element> left = Elements(a);
  const std::vector<Element> right = Elements(b);
  return left.size() == right.size() && std::ranges::is_permutation(left, right, SameValue, &Element::at, &Element::at);
}

// Appends where two values of the same field differ: deeper down if both are documents, or arrays of the same length.
void CompareValues(const bson_iter_t& expected, const bson_iter_t& found, const std::string& path,
                   std::vector<FieldDifference>& out) {
  if (SameValue(expected, found)) return;
  Bson left;
  Bson right;
  Inside(expected, left);
  Inside(found, right);
  const bool arrays = BSON_ITER_HOLDS_ARRAY(&expected) && BSON_ITER_HOLDS_ARRAY(&found);
  const bool documents = BSON_ITER_HOLDS_DOCUMENT(&expected) && BSON_ITER_HOLDS_DOCUMENT(&found);
  const bool set = arrays && IsSet(bson_iter_key(&expected));
  if (set && SameSet(*left.get(), *right.get())) return;
  const bool deeper = documents || (arrays && !set && bson_count_keys(left.get()) == bson_count_keys(right.get()));
  if (!deeper) {
    out.push_back({.path = path, .expected = JsonOf(expected), .found = JsonOf(found)});
    return;
  }
  std::ranges::move(FindDifferences(*left.get(), *right.get(), path), std::back_inserter(out));
}

}  // namespace

std::vector<FieldDifference> FindDifferences(const bson_t& expected, const bson_t& found, const std::string& path) {
  std::vector<FieldDifference> differences;
  const auto path_of = [&](const bson_iter_t& field) {
    return path.empty() ? std::string(bson_iter_key(&field)) : StrCat(path, ".", bson_iter_key(&field));
  };
  for (const Element& element : Elements(expected)) {
    const bson_iter_t& field = element.at;
    bson_iter_t other;
    if (bson_iter_init_find(&other, &found, bson_iter_key(&field))) {
      CompareValues(field, other, path_of(field), differences);
    } else {
      differences.push_back({.path = path_of(field), .expected = JsonOf(field), .found = ""});
    }
  }
  for (const Element& element : Elements(found)) {
    const bson_iter_t& field = element.at;
    bson_iter_t other;
    if (bson_iter_init_find(&other, &expected, bson_iter_key(&field))) continue;
    differences.push_back({.path = path_of(field), .expected = "", .found = JsonOf(field)});
  }
  return differences;
}

bool SameKeys(const bson_t& a, const bson_t& b) {
  const std::vector<Element> left = Elements(a);
  const std::vector<Element> right = Elements(b);
  return std::ranges::equal(left, right, [](const Element& x, const Element& y) {
    return std::string_view(bson_iter_key(&x.at)) == bson_iter_key(&y.at) && SameValue(x.at, y.at);
  });
}

std::string JsonOf(const bson_t& document) {
  char* text = bson_as_relaxed_extended_json(&document, nullptr);
  std::string json = text == nullptr ? "" : text;
  bson_free(text);
  return json;
}

std::string JsonOf(const bson_iter_t& value) {
  Bson wrapped;
  Wrap(value, wrapped);
  const std::string json = JsonOf(*wrapped.get());  // { "v" : … }
  const size_t begin = json.find(':') + 2;
  return json.substr(begin, json.size() - begin - 2);
}

}  // namespace braid::schema
