// $unwind: one document for each element of an array, with the element in the array's place.
#include "base/assert.h"
#include "base/strings.h"
#include "engine/exec/pipeline/parsers.h"
#include "engine/exec/pipeline/splice.h"
#include "engine/language/expression/operators.h"
#include "engine/language/match/path.h"

namespace braid::query::pipeline {
namespace {

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
