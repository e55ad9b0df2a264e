// Update: an old document and an update specification give the new document.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/language/match/filter.h"

namespace braid::update {

/// A parsed update: operators, a replacement, or a pipeline. Immutable after Parse; any thread.
class Update {
 public:
  struct Options {
    std::vector<bson::View> array_filters;
    bool multi = false;
    bool upsert = false;
  };
  virtual ~Update() = default;

  /// `u` is an object (operators or replacement) or an array (pipeline). Codes as MongoDB's.
  static Result<std::unique_ptr<const Update>> Parse(const bson::Value& u, const Options& options,
                                                     const std::shared_ptr<const query::Environment>& environment);

  /// The new document, or nullopt if the update changes nothing (not counted in nModified). `details` carries the index
  /// for `$`.
  virtual Result<std::optional<bson::Document>> Apply(bson::View document,
                                                      const query::MatchDetails& details) const = 0;

  /// The document an upsert inserts: equalities of the filter, then the update incl. $setOnInsert, _id first (generated
  /// if absent).
  virtual Result<bson::Document> Upsert(const query::Filter& filter) const = 0;

  virtual bool is_replacement() const { return false; }
  virtual bool is_pipeline() const { return false; }
  /// True if Apply() needs MatchDetails.array_index (a `$` in a path).
  virtual bool needs_position() const { return false; }
};

/// Checks a document that a user wants stored: `_id` not an array, regex or undefined and without $-fields inside
/// (53/52…), size at most 16 MiB (kBadValue / 10334), depth. Puts `_id` first, making one if absent; replaces a zero
/// Timestamp at top level by the current cluster time.
Result<bson::Document> PrepareForInsert(bson::View document, uint64_t cluster_time);
/// The same. The view is of `document` itself if nothing has to be changed, else of `changed`.
Result<bson::View> PrepareForInsert(bson::View document, uint64_t cluster_time, bson::Document& changed);

query::OperatorNames UpdateOperators();

}  // namespace braid::update
