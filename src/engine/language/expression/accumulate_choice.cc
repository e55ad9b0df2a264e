// Accumulators that choose among their inputs: $first, $last, $min, $max, $top, $bottom and their N forms.
#include <algorithm>
#include <deque>

#include "base/assert.h"
#include "engine/bson/compare.h"
#include "engine/language/expression/accumulators.h"
#include "engine/language/expression/values.h"

namespace braid::query::accumulators {

using bson::OwnedValue;
using bson::Value;

namespace {

Value CopyOrNull(const OwnedValue& kept, bson::Arena& arena) {
  return kept.value().missing() ? arena.Null() : arena.Copy(kept.value());
}

class FirstValue final : public Accumulator {
 public:
  Status Add(const Value& value) override {
    if (!seen_) kept_ = OwnedValue(value);
    seen_ = true;
    return {};
  }
  Value Finish(bson::Arena& arena) const override { return CopyOrNull(kept_, arena); }
  size_t memory() const override { return sizeof(*this) + kept_.value().bytes().size(); }

 private:
  bool seen_ = false;
  OwnedValue kept_;
};

class LastValue final : public Accumulator {
 public:
  Status Add(const Value& value) override {
    kept_ = OwnedValue(value);
    return {};
  }
  Value Finish(bson::Arena& arena) const override { return CopyOrNull(kept_, arena); }
  size_t memory() const override { return sizeof(*this) + kept_.value().bytes().size(); }

 private:
  OwnedValue kept_;
};

class Extreme final : public Accumulator {
 public:
  Extreme(int sign, const bson::Collation* collation) : sign_(sign), collation_(collation) {}
  Status Add(const Value& value) override {
    if (value.IsNullish()) return {};
    const Value best = kept_.value();
    if (best.missing() || sign_ * bson::Compare(value, best, collation_) < 0) kept_ = OwnedValue(value);
    return {};
  }
  Value Finish(bson::Arena& arena) const override { return CopyOrNull(kept_, arena); }
  size_t memory() const override { return sizeof(*this) + kept_.value().bytes().size(); }

 private:
  int sign_;  // 1: the least, -1: the greatest
  const bson::Collation* collation_;
  OwnedValue kept_;
};

Value ArrayOf(const std::deque<OwnedValue>& kept, bson::Arena& arena) {
  Values items;
  for (const OwnedValue& each : kept) items.push_back(each.value());
  return MakeArray(arena, items);
}

size_t SizeOf(const std::deque<OwnedValue>& kept) {
  size_t size = 0;
  for (const OwnedValue& each : kept) size += sizeof(OwnedValue) + each.value().bytes().size();
  return size;
}

/// The first or the last n.
class Ends final : public Accumulator {
 public:
  Ends(size_t n, bool last) : n_(n), last_(last) { BRAID_ASSERT(n > 0); }  // Add() takes one away to keep another
  Status Add(const Value& value) override {
    if (kept_.size() == n_) {
      if (!last_) return {};
      kept_.pop_front();
    }
    kept_.emplace_back(value);
    return {};
  }
  Value Finish(bson::Arena& arena) const override { return ArrayOf(kept_, arena); }
  size_t memory() const override { return sizeof(*this) + SizeOf(kept_); }

 private:
  size_t n_;
  bool last_;
  std::deque<OwnedValue> kept_;
};

/// The n best by some order, equal ones in the order of their arrival. $topN's values are documents {k: sort keys, o:
/// output}.
class Best final : public Accumulator {
 public:
  enum class By { kValue, kPattern };
  Best(const Settings& settings, By by, int sign, bool single)
      : by_(by), sign_(sign), single_(single), n_(single ? 1 : settings.n), settings_(settings) {}

  Status Add(const Value& value) override {
    if (by_ == By::kValue && value.IsNullish()) return {};
    auto less = [this](const Value& a, const OwnedValue& b) { return Order(a, b.value()) < 0; };
    // $bottom keeps the end of the order: among equals the later one.
    const auto at = std::upper_bound(kept_.begin(), kept_.end(), value, less);
    if (from_end() ? at == kept_.begin() && kept_.size() == n_ : at == kept_.end() && kept_.size() == n_) return {};
    kept_.emplace(at, value);
    BRAID_ASSERT(kept_.size() <= n_ + 1);
    if (kept_.size() > n_) from_end() ? kept_.pop_front() : kept_.pop_back();
    return {};
  }

  Value Finish(bson::Arena& arena) const override {
    if (by_ == By::kValue) return ArrayOf(kept_, arena);
    Values outputs;
    for (const OwnedValue& each : kept_) outputs.push_back(each.value().AsView().Find("o"));
    if (!single_) return MakeArray(arena, outputs);
    return outputs.empty() || outputs[0].missing() ? arena.Null() : arena.Copy(outputs[0]);
  }
  size_t memory() const override { return sizeof(*this) + SizeOf(kept_); }

 private:
  bool from_end() const { return by_ == By::kPattern && sign_ < 0; }

  int Order(const Value& a, const Value& b) const {
    if (by_ == By::kValue) return sign_ * bson::Compare(a, b, settings_.collation);
    return settings_.order.Compare(a.AsView().Find("k"), b.AsView().Find("k"), settings_.collation);
  }

  By by_;
  int sign_;
  bool single_;
  size_t n_;
  const Settings& settings_;
  std::deque<OwnedValue> kept_;  // in order
};

}  // namespace

using By = Best::By;
using State = std::unique_ptr<Accumulator>;

State MakeFirst(const Settings&) { return std::make_unique<FirstValue>(); }
State MakeLast(const Settings&) { return std::make_unique<LastValue>(); }
State MakeMin(const Settings& settings) { return std::make_unique<Extreme>(1, settings.collation); }
State MakeMax(const Settings& settings) { return std::make_unique<Extreme>(-1, settings.collation); }
State MakeFirstN(const Settings& settings) { return std::make_unique<Ends>(settings.n, false); }
State MakeLastN(const Settings& settings) { return std::make_unique<Ends>(settings.n, true); }
State MakeMinN(const Settings& settings) { return std::make_unique<Best>(settings, By::kValue, 1, false); }
State MakeMaxN(const Settings& settings) { return std::make_unique<Best>(settings, By::kValue, -1, false); }
State MakeTop(const Settings& settings) { return std::make_unique<Best>(settings, By::kPattern, 1, true); }
State MakeTopN(const Settings& settings) { return std::make_unique<Best>(settings, By::kPattern, 1, false); }
State MakeBottom(const Settings& settings) { return std::make_unique<Best>(settings, By::kPattern, -1, true); }
State MakeBottomN(const Settings& settings) { return std::make_unique<Best>(settings, By::kPattern, -1, false); }

}  // namespace braid::query::accumulators
