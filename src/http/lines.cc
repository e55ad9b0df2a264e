#include "http/lines.h"

#include "base/strings.h"

namespace braid::http {

void LineSplitter::Add(std::string_view line) {
  ++number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find_first_not_of(" \t") == std::string_view::npos) return;
  lines_.push_back(line);
  numbers_.push_back(number_);
}

Status LineSplitter::Take(std::string_view part) {
  lines_.clear();
  numbers_.clear();
  text_.erase(0, left_);
  text_.append(part);
  size_t begin = 0;
  for (size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n', begin)) {
    if (end - begin > kLineBytesMax) break;
    Add(std::string_view(text_).substr(begin, end - begin));
    begin = end + 1;
  }
  left_ = begin;
  const size_t end = std::min(text_.find('\n', begin), text_.size());
  if (end - begin <= kLineBytesMax) return {};
  return Status(Code::kInvalidLength,
                StrCat("line ", number_ + 1, " is longer than ", kLineBytesMax, " bytes; nothing behind it was taken"));
}

Status LineSplitter::Finish() {
  lines_.clear();
  numbers_.clear();
  text_.erase(0, left_);
  left_ = text_.size();
  if (!text_.empty()) Add(text_);
  return {};
}

}  // namespace braid::http
