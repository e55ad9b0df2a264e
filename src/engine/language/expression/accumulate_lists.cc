// Accumulators that collect: $push, $addToSet, $mergeObjects.
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "base/assert.h"
#include "engine/bson/compare.h"
#include "engine/language/expression/accumulators.h"
#include "engine/language/expression/values.h"

namespace braid::query::accumulators {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

/// Keeps the array's bytes as they come.
class Push final : public Accumulator {
 public:
  Status Add(const Value& value) override {
    if (value.missing()) return {};
    char name[20];
    char* end = std::to_chars(name, name + sizeof(name), count_++).ptr;
    bytes_ += static_cast<char>(value.type());
    bytes_.append(name, end - name);
    bytes_ += '\0';
    bytes_ += value.bytes();
    return {};
  }
  Value Finish(bson::Arena& arena) const override {
    BRAID_ASSERT(bytes_.size() < std::numeric_limits<int32_t>::max() - 5);  // the stage limits its memory long before
    const auto size = static_cast<uint32_t>(bytes_.size() + 5);
    char* at = arena.TryAllocate(size);
    if (at == nullptr) return bson::Arena::Empty(Type::kArray);
    std::memcpy(at, &size, 4);
    std::memcpy(at + 4, bytes_.data(), bytes_.size());
    at[size - 1] = '\0';
    return {Type::kArray, at, size};
  }
  size_t memory() const override { return sizeof(*this) + bytes_.capacity(); }

 private:
  uint64_t count_ = 0;
  std::string bytes_;
};

class AddToSet final : public Accumulator {
 public:
  explicit AddToSet(const bson::Collation* collation) : seen_(8, Hash{collation}, Same{collation}) {}
  Status Add(const Value& value) override {
    if (value.missing() || seen_.contains(value)) return {};
    const Value copy = memory_.Copy(value);
    seen_.insert(copy);
    items_.push_back(copy);
    bytes_ += value.bytes().size() + kPerItem;
    return {};
  }
  Value Finish(bson::Arena& arena) const override { return MakeArray(arena, items_); }
  size_t memory() const override { return sizeof(*this) + bytes_; }

 private:
  static constexpr size_t kPerItem = 3 * sizeof(Value) + 16;  // in the set and in the list
  struct Hash {
    const bson::Collation* collation;
    size_t operator()(const Value& v) const { return bson::HashOf(v, collation); }
  };
  struct Same {
    const bson::Collation* collation;
    bool operator()(const Value& a, const Value& b) const { return bson::Equal(a, b, collation); }
  };
  bson::Arena memory_;
  std::unordered_set<Value, Hash, Same> seen_;
  std::vector<Value> items_;  // in the order they came
  size_t bytes_ = 0;
};

class Merge final : public Accumulator {
 public:
  Status Add(const Value& value) override {
    if (value.IsNullish()) return {};
    if (!value.Is(Type::kObject)) {
      return CallError(40400, "$mergeObjects requires object inputs, but input is of type ", TypeOf(value));
    }
    bson::Arena arena;
    merged_ = bson::Document(MergeFields(merged_, value.AsView(), arena).AsView());
    return {};
  }
  Value Finish(bson::Arena& arena) const override { return arena.Object(merged_); }
  size_t memory() const override { return sizeof(*this) + merged_.bytes().size(); }

 private:
  bson::Document merged_;
};

}  // namespace

Value MergeFields(bson::View base, bson::View update, bson::Arena& arena) {
  std::vector<Element> fields;
  std::unordered_map<std::string_view, size_t> places;  // of names; a name that is there twice counts once
  for (const Element& field : base) {
    places.try_emplace(field.name, fields.size());
    fields.push_back(field);
  }
  for (const Element& field : update) {
    const auto [known, is_new] = places.try_emplace(field.name, fields.size());
    if (is_new) {
      fields.push_back(field);
    } else {
      fields[known->second].value = field.value;
    }
  }
  return MakeObject(arena, fields);
}

std::unique_ptr<Accumulator> MakePush(const Settings&) { return std::make_unique<Push>(); }
std::unique_ptr<Accumulator> MakeAddToSet(const Settings& settings) {
  return std::make_unique<AddToSet>(settings.collation);
}
std::unique_ptr<Accumulator> MakeMergeObjects(const Settings&) { return std::make_unique<Merge>(); }

}  // namespace braid::query::accumulators
