#include "engine/language/match/path.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace braid::query {

namespace {

int64_t ArrayIndexOf(std::string_view component) {
  if (!IsArrayIndex(component)) return FieldPath::kNoIndex;
  int64_t index = 0;
  const auto [end, error] = std::from_chars(component.data(), component.data() + component.size(), index);
  return error == std::errc() ? index : FieldPath::kNoIndex;
}

}  // namespace

bool IsArrayIndex(std::string_view component) {
  if (component.empty() || (component.size() > 1 && component.front() == '0')) return false;
  return std::all_of(component.begin(), component.end(), [](char c) { return c >= '0' && c <= '9'; });
}

FieldPath::FieldPath(std::string_view dotted) : text_(dotted) {
  for (std::string_view part : Split(text_, '.')) {
    parts_.push_back(
        {static_cast<uint32_t>(part.data() - text_.data()), static_cast<uint32_t>(part.size()), ArrayIndexOf(part)});
  }
}

bson::Value Lookup(bson::View document, std::string_view path) {
  bson::View here = document;
  for (;;) {
    const size_t dot = path.find('.');
    // The names of an array's elements are their positions, so an array needs no case of its own.
    const bson::Value value = here.Find(path.substr(0, dot));
    if (dot == std::string_view::npos) return value;
    if (!value.Is(bson::Type::kObject) && !value.Is(bson::Type::kArray)) return {};
    here = value.AsView();
    path.remove_prefix(dot + 1);
  }
}

}  // namespace braid::query
