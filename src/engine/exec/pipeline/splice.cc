#include "engine/exec/pipeline/splice.h"

#include "base/assert.h"
#include "engine/bson/builder.h"

namespace braid::query::pipeline {

bson::Value Splice::Find(bson::View document) {
  document_ = document;
  lengths_.clear();
  start_ = end_ = 0;
  bson::View inner = document;
  for (size_t part = 0;; ++part) {
    lengths_.push_back(static_cast<size_t>(inner.data() - document.data()));
    auto at = inner.begin();
    const auto end = inner.end();
    while (at != end && at->name != path_[part]) ++at;
    if (at == end) return {};
    if (part + 1 == path_.size()) {
      start_ = static_cast<size_t>(at.raw().data() - document.data());
      end_ = start_ + at.raw().size();
      return at->value;
    }
    if (!at->value.Is(bson::Type::kObject)) return {};
    inner = at->value.AsView();
  }
}

bson::View Splice::With(const bson::Value& value) {
  BRAID_ASSERT(start_ < end_ && !lengths_.empty());
  const std::string_view bytes = document_.bytes();
  BRAID_ASSERT(end_ <= bytes.size());  // the document is the one that Find() was given
  output_.assign(bytes.substr(0, start_));
  if (!value.missing()) {
    output_.push_back(static_cast<char>(value.type()));
    output_.append(path_[path_.size() - 1]).push_back('\0');
    output_.append(value.bytes());
  }
  const size_t grown = output_.size() - end_;  // wraps around if it has shrunk
  output_.append(bytes.substr(end_));
  for (const size_t at : lengths_) {
    const auto length = static_cast<uint32_t>(bson::Load<uint32_t>(bytes.data() + at) + grown);
    std::memcpy(output_.data() + at, &length, sizeof(length));
  }
  return bson::View(output_);
}

namespace {

void AppendWith(bson::Builder& out, bson::View document, const FieldPath& path, size_t part, const bson::Value& value) {
  bool found = false;
  const auto append = [&](const bson::Value& old) {
    found = true;
    if (part + 1 == path.size()) {
      out.Append(path[part], value);
      return;
    }
    out.OpenObject(path[part]);
    AppendWith(out, old.Is(bson::Type::kObject) ? old.AsView() : bson::View(), path, part + 1, value);
    out.Close();
  };
  for (auto at = document.begin(); at != document.end(); ++at) {
    if (!found && at->name == path[part]) {
      append(at->value);
    } else {
      out.AppendRaw(at.raw());
    }
  }
  if (!found) append({});
}

}  // namespace

bson::Document SetPath(bson::View document, const FieldPath& path, const bson::Value& value) {
  bson::Builder out;
  AppendWith(out, document, path, 0, value);
  return out.Finish();
}

}  // namespace braid::query::pipeline
