#include "services/schema/examine.h"

#include <set>

#include "base/strings.h"
#include "client/fields.h"

namespace braid::schema {
namespace {

using client::BsonPtr;

class Examiner {
 public:
  Examiner(const Wanted& wanted, const Actual& actual) : wanted_(wanted), actual_(actual) {}

  std::vector<Finding> Run() {
    if (actual_.exists() && actual_.type != "collection") {
      Add(State::kDifferent, "type", "\"collection\"", StrCat("\"", actual_.type, "\""));
      return std::move(findings_);
    }
    Add(actual_.exists() ? State::kAsSpecified : State::kMissing, kCollectionField, "{ }");
    Validator();
    Options();
    for (const WantedIndex& index : wanted_.indexes) Index(index);
    OtherIndexes();
    ShardKey();
    return std::move(findings_);
  }

 private:
  void Add(State state, std::string field, std::string expected = "", std::string found = "") {
    findings_.push_back({.state = state,
                         .collection = wanted_.name,
                         .field = std::move(field),
                         .expected = std::move(expected),
                         .found = std::move(found)});
  }
  void AddAll(std::vector<FieldDifference> differences) {
    for (FieldDifference& each : differences) {
      Add(State::kDifferent, std::move(each.path), std::move(each.expected), std::move(each.found));
    }
  }

  void Validator() {
    const BsonPtr found = SubDocument(*actual_.options, "validator");
    const bool has = !bson_empty(found.get());
    if (wanted_.validator == nullptr) {
      if (has) Add(State::kDifferent, kValidatorField, "", JsonOf(*found));
      return;
    }
    const std::string expected = JsonOf(*wanted_.validator);
    if (!has) return Add(State::kMissing, kValidatorField, expected);
    auto differences = FindDifferences(*wanted_.validator, *found, kValidatorField);
    const std::pair<const char*, const char*> defaults[] = {{"validationLevel", "strict"},
                                                            {"validationAction", "error"}};
    for (const auto& [option, value] : defaults) {
      const std::string_view set = client::TextOf(actual_.options.get(), option);
      if (set.empty() || set == value) continue;
      differences.push_back({.path = option, .expected = StrCat("\"", value, "\""), .found = StrCat("\"", set, "\"")});
    }
    if (differences.empty()) return Add(State::kAsSpecified, kValidatorField, expected, expected);
    AddAll(std::move(differences));
  }

  // Options that change what the collection holds or how it compares; no spec asks for them.
  void Options() {
    for (const char* const option : {"capped", "collation"}) {
      bson_iter_t value;
      if (!bson_iter_init_find(&value, actual_.options.get(), option)) continue;
      if (BSON_ITER_HOLDS_BOOL(&value) && !bson_iter_bool(&value)) continue;
      Add(State::kDifferent, option, "", JsonOf(value));
    }
  }

  // The relevant options of an index besides its keys; an option that is false equals an absent one.
  static BsonPtr IndexOptions(const bson_t& definition, bool named) {
    BsonPtr options = Without(definition, {"v", "ns", "key", "background"});
    for (const char* const flag : {"unique", "sparse", "hidden"}) {
      if (!client::BoolOf(options.get(), flag)) options = Without(*options, {flag});
    }
    return named ? std::move(options) : Without(*options, {"name"});
  }

  // The index with the same keys that differs least; if there is none, the one that has the name.
  void Index(const WantedIndex& index) {
    const std::string field = IndexField(index.name);
    const BsonPtr options = IndexOptions(*index.definition, index.named);
    const bson_t* best = nullptr;
    const bson_t* namesake = nullptr;
    std::vector<FieldDifference> least;
    for (const BsonPtr& found : actual_.indexes) {
      if (client::TextOf(found.get(), "name") == index.name) namesake = found.get();
      if (!SameKeys(*index.keys, *SubDocument(*found, "key"))) continue;
      auto differences = FindDifferences(*options, *IndexOptions(*found, index.named), field);
      if (best != nullptr && differences.size() >= least.size()) continue;
      best = found.get();
      least = std::move(differences);
    }
    if (best != nullptr) {
      known_.insert(best);
      if (!least.empty()) return AddAll(std::move(least));
      return Add(State::kAsSpecified, field, JsonOf(*index.definition), JsonOf(*best));
    }
    if (namesake == nullptr) return Add(State::kMissing, field, JsonOf(*index.definition));
    known_.insert(namesake);
    Add(State::kDifferent, StrCat(field, ".key"), JsonOf(*index.keys), JsonOf(*SubDocument(*namesake, "key")));
  }

  void OtherIndexes() {
    for (const BsonPtr& found : actual_.indexes) {
      const std::string_view name = client::TextOf(found.get(), "name");
      const bool harmless =
          !client::BoolOf(found.get(), "unique") && !bson_has_field(found.get(), "expireAfterSeconds");
      if (harmless || name == "_id_" || known_.contains(found.get())) continue;
      Add(State::kDifferent, IndexField(std::string(name)), "", JsonOf(*Without(*found, {"v"})));
    }
  }

  void ShardKey() {
    if (wanted_.shard_key == nullptr) return;
    const std::string expected = JsonOf(*wanted_.shard_key);
    if (actual_.shard_key == nullptr) return Add(State::kMissing, kShardKeyField, expected);
    const bool same = SameKeys(*wanted_.shard_key, *actual_.shard_key);
    Add(same ? State::kAsSpecified : State::kDifferent, kShardKeyField, expected, JsonOf(*actual_.shard_key));
  }

  const Wanted& wanted_;
  const Actual& actual_;
  std::set<const bson_t*> known_;  // indexes that a finding is about
  std::vector<Finding> findings_;
};

// MongoDB keeps an index unique only within a shard, so it wants the shard key's fields first, hashed or not.
bool BeginsWithFields(const bson_t& keys, const bson_t& shard_key) {
  bson_iter_t key;
  bson_iter_t wanted;
  if (!bson_iter_init(&key, &keys) || !bson_iter_init(&wanted, &shard_key)) return false;
  while (bson_iter_next(&wanted)) {
    if (!bson_iter_next(&key) || std::string_view(bson_iter_key(&key)) != bson_iter_key(&wanted)) return false;
  }
  return true;
}

}  // namespace

std::string IndexField(const std::string& index_name) { return StrCat("indexes.", index_name); }

std::vector<Finding> Adapt(const StoreKind& kind, Wanted& wanted) {
  std::vector<Finding> skipped;
  if (wanted.shard_key == nullptr) return skipped;
  const std::string shard_key = JsonOf(*wanted.shard_key);
  if (!kind.shards) {
    wanted.shard_key.reset();
    skipped.push_back({.state = State::kSkipped,
                       .collection = wanted.name,
                       .field = kShardKeyField,
                       .expected = shard_key,
                       .note = "the store is not a sharded cluster"});
    return skipped;
  }
  for (WantedIndex& index : wanted.indexes) {
    if (kind.unique_over_shards || !index.unique || BeginsWithFields(*index.keys, *wanted.shard_key)) continue;
    index.unique = false;
    index.definition = Without(*index.definition, {"unique"});
    skipped.push_back({.state = State::kSkipped,
                       .collection = wanted.name,
                       .field = StrCat(IndexField(index.name), ".unique"),
                       .expected = "true",
                       .note = StrCat("a MongoDB cluster keeps no index unique that lacks the shard key ", shard_key)});
  }
  return skipped;
}

std::vector<Finding> Examine(const Wanted& wanted, const Actual& actual) { return Examiner(wanted, actual).Run(); }

}  // namespace braid::schema
