// $unwind: one document for each element of an array, with the element in the array's place.
#include <cstring>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/exec/pipeline/stage.h"
#include "engine/language/expression/operators.h"
#include "engine/language/match/path.h"

namespace braid::query::pipeline {
namespace {

/// Replaces one value of a document by other values, one after another, copying the bytes before and after it. The path
/// leads through documents only. Not thread-safe; the result of With() is valid until the next call.
class Splice {
 public:
  explicit Splice(FieldPath path) : path_(std::move(path)) {}

  /// The value at the path; missing if none. The document must stay for the calls of With().
  bson::Value Find(bson::View document);
  /// The document with `value` instead of what Find() found (which must not be missing); without it if missing.
  bson::View With(const bson::Value& value);

 private:
  const FieldPath path_;
  bson::View document_;
  std::vector<size_t> lengths_;  // where the lengths of the documents around the value lie
  size_t start_ = 0;             // of the element
  size_t end_ = 0;
  std::string output_;
};

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

/// The document with the value at the path. Documents on the way are made where there are none.
bson::Document SetPath(bson::View document, const FieldPath& path, const bson::Value& value) {
  bson::Builder out;
  AppendWith(out, document, path, 0, value);
  return out.Finish();
}

struct Options {
  std::string path;
  std::string index_path;  // empty: none
  bool preserve = false;
};

class Unwind final : public Stage {
 public:
  Unwind(std::string_view name, const bson::Value& specification, Options options)
      : Stage(name, specification),
        options_(std::move(options)),
        splice_(FieldPath(options_.path)),
        index_path_(options_.index_path) {}

  Needs CollectPaths(std::set<std::string>* paths) const override {
    paths->insert(options_.path);
    return Needs::kMore;
  }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    for (;;) {
      if (inside_ && at_ != end_) {
        BRAID_ASSERT(value_.Is(bson::Type::kArray));  // With() replaces what Find() has found
        *document = WithIndex(splice_.With(at_->value), position_++);
        ++at_;
        return true;
      }
      inside_ = false;
      BRAID_TRY(const bool more, input().Next(context, document));
      if (!more) return false;
      if (Enter(*document)) continue;
      if (Stay(document)) return true;
    }
  }

 private:
  /// Goes into the document's array; false if there is none or an empty one.
  bool Enter(bson::View document) {
    value_ = splice_.Find(document);
    if (!value_.Is(bson::Type::kArray)) return false;
    at_ = value_.AsView().begin();
    end_ = value_.AsView().end();
    position_ = 0;
    inside_ = at_ != end_;
    return inside_;
  }

  /// The output for a document without elements; false if there is none.
  bool Stay(bson::View* document) {
    const bool empty = value_.Is(bson::Type::kArray);
    if ((empty || value_.IsNullish()) && !options_.preserve) return false;
    *document = WithIndex(empty ? splice_.With(bson::Value()) : *document, std::nullopt);
    return true;
  }

  bson::View WithIndex(bson::View document, std::optional<int64_t> index) {
    if (options_.index_path.empty()) return document;
    arena_.Clear();
    const bson::Value value = index ? arena_.Int64(*index) : bson::Arena::Null();
    output_ = SetPath(document, index_path_, value);
    return output_;
  }

  const Options options_;
  Splice splice_;
  const FieldPath index_path_;
  bson::Value value_;  // of the input document, at the path
  bson::View::Iterator at_ = bson::View().end();
  bson::View::Iterator end_ = bson::View().end();
  int64_t position_ = 0;
  bool inside_ = false;  // between at_ and end_
  bson::Arena arena_;
  bson::Document output_;
};

Status ReadOption(const bson::Element& option, Options* options) {
  const bson::Value& value = option.value;
  const auto expected = [&](int code, std::string_view what) {
    return Status(Location(code), StrCat("expected ", what, " $unwind stage, got ", bson::TypeName(value.type())));
  };
  if (option.name == "path") {
    if (!value.Is(bson::Type::kString)) return expected(28808, "a string as the path for");
    options->path = value.AsString();
  } else if (option.name == "preserveNullAndEmptyArrays") {
    if (!value.Is(bson::Type::kBool)) return expected(28809, "a boolean for the preserveNullAndEmptyArrays option to");
    options->preserve = value.AsBool();
  } else if (option.name == "includeArrayIndex") {
    if (!value.Is(bson::Type::kString) || value.AsString().empty())
      return expected(28810, "a non-empty string for the includeArrayIndex option to");
    options->index_path = value.AsString();
    if (options->index_path.starts_with('$')) {
      return {Location(28822), StrCat("includeArrayIndex option to $unwind stage should not be prefixed with a '$': ",
                                      options->index_path)};
    }
    BRAID_CHECK_OK(CheckFieldPath(options->index_path));
  } else {
    return {Location(28811), StrCat("unrecognized option to $unwind stage: ", option.name)};
  }
  return {};
}

}  // namespace

Status ParseUnwind(StageParser& parser, std::string_view name, const bson::Value& specification) {
  Options options;
  if (specification.Is(bson::Type::kString)) {
    options.path = specification.AsString();
  } else if (specification.Is(bson::Type::kObject)) {
    for (const bson::Element& option : specification.AsView()) BRAID_CHECK_OK(ReadOption(option, &options));
  } else {
    return {Location(15981), StrCat("expected either a string or an object as specification for $unwind stage, got ",
                                    bson::TypeName(specification.type()))};
  }
  if (options.path.empty()) return {Location(28812), "no path specified to $unwind stage"};
  if (!options.path.starts_with('$')) {
    return {Location(28818), StrCat("path option to $unwind stage should be prefixed with a '$': ", options.path)};
  }
  options.path.erase(0, 1);
  BRAID_CHECK_OK(CheckFieldPath(options.path));
  parser.stages.push_back(std::make_unique<Unwind>(name, specification, std::move(options)));
  return {};
}

}  // namespace braid::query::pipeline
