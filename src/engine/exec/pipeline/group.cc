// $group: one document for each value of an expression, with accumulators over the documents that share it.
#include <optional>
#include <unordered_map>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/exec/pipeline/stage.h"
#include "engine/exec/plan/stage.h"
#include "engine/language/expression/accumulator.h"

namespace braid::query::pipeline {
namespace {

struct Field {
  std::string name;
  std::unique_ptr<const AccumulatorSpec> accumulator;
  std::optional<bson::Type> counts_as;  // it counts documents, in a number of that type
};

/// {$sum: 1} and {$count: {}} count documents.
std::optional<bson::Type> CountType(bson::View accumulator) {
  const bson::Element only = *accumulator.begin();
  if (only.name == "$count") return bson::Type::kInt32;
  if (only.name != "$sum") return std::nullopt;
  const bson::Value& value = only.value;
  const bool one = (value.Is(bson::Type::kInt32) && value.AsInt32() == 1) ||
                   (value.Is(bson::Type::kInt64) && value.AsInt64() == 1) ||
                   (value.Is(bson::Type::kDouble) && value.AsDouble() == 1);
  return one ? std::optional(value.type()) : std::nullopt;
}

class Group final : public Stage {
 public:
  Group(std::string_view name, const bson::Value& specification, std::shared_ptr<const Environment> environment,
        ExpressionPtr id, std::vector<Field> fields)
      : Stage(name, specification),
        environment_(std::move(environment)),
        id_(std::move(id)),
        fields_(std::move(fields)),
        groups_(0, Hash{environment_->collation.get()}, Equal{environment_->collation.get()}) {}

  Needs CollectPaths(std::set<std::string>* paths) const override {
    id_->CollectPaths(paths);
    for (const Field& field : fields_) field.accumulator->CollectPaths(paths);
    return Needs::kOnly;
  }

  bool counts() const override {
    if (id_->constant() == nullptr) return false;
    for (const Field& field : fields_) {
      if (!field.counts_as) return false;
    }
    return true;
  }

  bson::Document FromCount(int64_t count) const override {
    bson::Builder out;
    out.Append("_id", id_->constant()->missing() ? bson::Arena::Null() : *id_->constant());
    for (const Field& field : fields_) {
      switch (*field.counts_as) {
        case bson::Type::kDouble: out.Append(field.name, static_cast<double>(count)); break;
        case bson::Type::kInt64: out.Append(field.name, count); break;
        default: plan::AppendNumber(out, field.name, static_cast<uint64_t>(count));
      }
    }
    return out.Finish();
  }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    if (!loaded_) BRAID_CHECK_OK(Load(context));
    BRAID_CHECK_OK(context.Check());
    if (next_ == ids_.size()) return false;
    BRAID_ASSERT(states_.size() == ids_.size() * fields_.size());
    arena_.Clear();
    bson::Builder out;
    out.Append("_id", ids_[next_]);
    for (size_t i = 0; i < fields_.size(); ++i) {
      std::unique_ptr<Accumulator>& state = states_[next_ * fields_.size() + i];
      out.Append(fields_[i].name, state->Finish(arena_));
      state = nullptr;  // handed out
      BRAID_CHECK_OK(Work::Current().Tick());
    }
    ++next_;
    output_ = out.Finish();
    *document = output_;
    return true;
  }

 private:
  struct Hash {
    const bson::Collation* collation;
    size_t operator()(const bson::Value& value) const { return bson::HashOf(value, collation); }
  };
  struct Equal {
    const bson::Collation* collation;
    bool operator()(const bson::Value& a, const bson::Value& b) const { return bson::Equal(a, b, collation); }
  };
  static constexpr size_t kBytesPerGroup = 4 * sizeof(bson::Value) + 4 * sizeof(void*);  // in the map and in the list

  Status Load(txn::Context& context) {
    bson::View document;
    for (;;) {
      BRAID_CHECK_OK(context.Check());
      BRAID_TRY(const bool more, input().Next(context, &document));
      if (!more) break;
      BRAID_CHECK_OK(Add(document));
      BRAID_CHECK_OK(memory_.Set(context, name(), bytes_));
    }
    groups_.clear();
    loaded_ = true;
    return {};
  }

  Status Add(bson::View document) {
    arena_.Clear();
    BRAID_TRY(const bson::Value id, Evaluate(*id_, document, *environment_, arena_));
    const size_t group = GroupOf(id.missing() ? bson::Arena::Null() : id);
    BRAID_ASSERT(group < ids_.size() && (group + 1) * fields_.size() <= states_.size());
    for (size_t i = 0; i < fields_.size(); ++i) {
      Accumulator& state = *states_[group * fields_.size() + i];
      BRAID_TRY(const bson::Value argument, fields_[i].accumulator->Argument(document, arena_));
      const size_t before = state.memory();
      BRAID_CHECK_OK(state.Add(argument));
      bytes_ += state.memory() - before;
    }
    return {};
  }

  size_t GroupOf(const bson::Value& id) {
    if (const auto found = groups_.find(id); found != groups_.end()) return found->second;
    const size_t group = ids_.size();
    ids_.push_back(id_bytes_.Copy(id));
    groups_.emplace(ids_.back(), group);
    bytes_ += kBytesPerGroup + id.bytes().size();
    for (const Field& field : fields_) {
      states_.push_back(field.accumulator->Start());
      bytes_ += states_.back()->memory() + sizeof(states_.back());
    }
    return group;
  }

  const std::shared_ptr<const Environment> environment_;
  const ExpressionPtr id_;
  const std::vector<Field> fields_;
  bson::Arena arena_{bson::Arena::Use::kQuery};  // of one document
  bson::Arena id_bytes_;                         // the bytes that ids_ points into
  std::vector<bson::Value> ids_;
  std::vector<std::unique_ptr<Accumulator>> states_;  // of every group, field by field
  std::unordered_map<bson::Value, size_t, Hash, Equal> groups_;
  size_t bytes_ = 0;
  StageMemory memory_;
  size_t next_ = 0;
  bool loaded_ = false;
  bson::Document output_;
};

}  // namespace

Status ParseGroup(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(bson::Type::kObject))
    return {Location(15947), "a group's fields must be specified in an object"};
  const Environment& environment = *parser.environment();
  ExpressionPtr id;
  std::vector<Field> fields;
  std::set<std::string_view> names;
  for (const bson::Element& field : specification.AsView()) {
    if (field.name == "_id") {
      if (id != nullptr) return {Location(15948), "a group's _id may only be specified once"};
      BRAID_TRY(id, ParseExpression(field.value, environment));
      continue;
    }
    BRAID_TRY(auto accumulator, ParseAccumulator(field.name, field.value, environment));
    if (!names.insert(field.name).second)
      return {Location(16406), StrCat("duplicate field in $group: '", field.name, "'")};
    fields.push_back({std::string(field.name), std::move(accumulator), CountType(field.value.AsView())});
  }
  if (id == nullptr) return {Location(15955), "a group specification must include an _id"};
  parser.stages.push_back(
      std::make_unique<Group>(name, specification, parser.environment(), std::move(id), std::move(fields)));
  return {};
}

}  // namespace braid::query::pipeline
