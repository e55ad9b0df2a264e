#include "cli/reasons.h"

#include "base/strings.h"

namespace braid::cli {
namespace {

// Without the parts that differ from line to line: digits and quoted text.
std::string KindOf(const std::string& reason) {
  std::string kind;
  char quote = 0;
  for (const char c : reason) {
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') {
      quote = c;
    } else if (c < '0' || c > '9') {
      kind += c;
    }
  }
  return quote == 0 ? kind : reason;
}

}  // namespace

bool Reasons::Add(const std::string& reason) {
  std::string kind = KindOf(reason);
  if (kinds_.size() >= kShownMax && !kinds_.contains(kind)) {
    ++others_;
    return false;
  }
  Kind& entry = kinds_[std::move(kind)];
  if (++entry.count > 1) return false;
  entry.first = reason;
  return true;
}

std::vector<std::string> Reasons::Repeated() const {
  std::vector<std::string> lines;
  for (const auto& [kind, entry] : kinds_) {
    if (entry.count > 1) lines.push_back(StrCat("and ", entry.count - 1, " more: ", entry.first));
  }
  if (others_ > 0) lines.push_back(StrCat("and ", others_, " more for other reasons"));
  return lines;
}

}  // namespace braid::cli
