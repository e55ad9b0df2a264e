// KeyBounds: encoding and the walk over a compound key.
#include "engine/exec/plan/key_bounds.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/bson/key_encoding.h"
#include "engine/storage/keys.h"

namespace braid::query::plan {
namespace {

std::string Encoded(const bson::Value& value, const bson::Collation* collation) {
  std::string key;
  bson::AppendKey(&key, value, true, collation);
  return key;
}

}  // namespace

KeyBounds KeyBounds::Make(const IndexPath& path, const catalog::Collection& collection, storage::ShardNumber shard) {
  KeyBounds bounds;
  const std::string prefix = path.clustered ? storage::DocumentPrefix(collection.number, shard)
                                            : storage::IndexPrefix(path.index->number, shard);
  bounds.prefix_size_ = prefix.size();
  if (path.limits) {
    bounds.SetLimits(path, prefix);
    return bounds;
  }
  bounds.empty_ = path.empty();
  if (bounds.empty_) return bounds;
  const auto& fields = path.index->spec.fields;
  BRAID_ASSERT(path.fields.size() == fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    bounds.AddField(path.fields[i], fields[i].descending, fields[i].hashed ? nullptr : path.collation());
    if (!IsAll(path.fields[i])) bounds.checked_ = i + 1;
  }
  // Fixed values followed by one stretch are one range.
  const size_t fixed = path.equalities();
  if (bounds.checked_ <= fixed || (bounds.checked_ == fixed + 1 && path.fields[fixed].size() == 1)) bounds.checked_ = 0;
  bounds.SetRange(path, prefix);
  return bounds;
}

void KeyBounds::AddField(const Intervals& intervals, bool descending, const bson::Collation* collation) {
  Field field{{}, descending};
  for (const Interval& interval : intervals) {
    if (!descending) {
      field.spans.push_back({interval.begin, interval.end});
      continue;
    }
    Span span{Encoded(interval.high, collation), Encoded(interval.low, collation)};
    if (!interval.high_inclusive) span.begin = storage::PrefixEnd(span.begin);
    if (interval.low_inclusive) span.end = storage::PrefixEnd(span.end);
    field.spans.push_back(std::move(span));
  }
  if (descending) std::reverse(field.spans.begin(), field.spans.end());
  fields_.push_back(std::move(field));
}

void KeyBounds::SetRange(const IndexPath& path, const std::string& prefix) {
  std::string common = prefix;
  const size_t fixed = path.equalities();
  BRAID_ASSERT(fixed <= fields_.size());
  for (size_t i = 0; i < fixed; ++i) common += fields_[i].spans[0].begin;
  if (fixed == fields_.size()) {
    range_ = {common, storage::PrefixEnd(common)};
  } else {
    BRAID_ASSERT(!fields_[fixed].spans.empty());  // else the path would be empty
    range_ = {common + fields_[fixed].spans.front().begin, common + fields_[fixed].spans.back().end};
  }
}

void KeyBounds::SetLimits(const IndexPath& path, const std::string& prefix) {
  range_ = {prefix, storage::PrefixEnd(prefix)};
  if (path.limits->min) range_.begin = prefix + EncodeLimit(path.index->spec, *path.limits->min);
  if (path.limits->max) range_.end = prefix + EncodeLimit(path.index->spec, *path.limits->max);
  empty_ = range_.begin >= range_.end;
}

KeyBounds::Verdict KeyBounds::Check(std::string_view key, bool backward, std::string* target) const {
  size_t at = prefix_size_;
  for (size_t i = 0; i < checked_; ++i) {
    const Field& field = fields_[i];
    const size_t size = bson::KeySize(key.substr(at), field.descending);
    const std::string_view value = key.substr(at, size);
    const std::string_view before = key.substr(0, at);
    if (!backward) {
      // The first span that ends above the value: it holds the value, or is where the next one can be.
      const auto span = std::ranges::upper_bound(field.spans, value, {}, &Span::end);
      if (span == field.spans.end()) {
        if (i == 0) return Verdict::kEnd;
        *target = storage::PrefixEnd(before);
        return Verdict::kSeek;
      }
      if (value < span->begin) {
        target->assign(before).append(span->begin);
        return Verdict::kSeek;
      }
    } else {
      // The last span that begins at or below the value.
      const auto above = std::ranges::upper_bound(field.spans, value, {}, &Span::begin);
      if (above == field.spans.begin()) {
        if (i == 0) return Verdict::kEnd;
        target->assign(before);
        return Verdict::kSeek;
      }
      const auto span = std::prev(above);
      if (value >= span->end) {
        target->assign(before).append(span->end);
        return Verdict::kSeek;
      }
    }
    at += size;
  }
  return Verdict::kInside;
}

}  // namespace braid::query::plan
