// $sample: documents taken at random, each with the same chance, in random order.
#include <algorithm>

#include "base/assert.h"
#include "base/random.h"
#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {
namespace {

class Sample final : public Stage {
 public:
  Sample(std::string_view name, const bson::Value& specification, uint64_t size)
      : Stage(name, specification), size_(size), random_(RandomSeed()) {}

  Needs CollectPaths(std::set<std::string>*) const override { return Needs::kMore; }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    if (!loaded_) BRAID_CHECK_OK(Load(context));
    if (next_ == taken_.size()) return false;
    *document = bson::View(taken_[next_++]);
    return true;
  }

 private:
  // A reservoir: the n-th document takes a random place with chance size / n. Places are shuffled at the end, because
  // documents that were never displaced are in the order of their arrival.
  Status Load(txn::Context& context) {
    bson::View document;
    size_t bytes = 0;
    for (uint64_t seen = 1;; ++seen) {
      BRAID_CHECK_OK(context.Check());
      BRAID_TRY(const bool more, input().Next(context, &document));
      if (!more) break;
      if (taken_.size() < size_) {
        taken_.emplace_back(document.bytes());
      } else {
        const uint64_t place = random_.Below(seen);
        if (place >= size_) continue;
        BRAID_ASSERT(place < taken_.size() && bytes >= taken_[place].size());
        bytes -= taken_[place].size();
        taken_[place] = document.bytes();
      }
      bytes += document.size();
      BRAID_CHECK_OK(memory_.Set(context, name(), bytes + taken_.size() * sizeof(std::string)));
    }
    for (size_t i = taken_.size(); i > 1; --i) std::swap(taken_[i - 1], taken_[random_.Below(i)]);
    loaded_ = true;
    return {};
  }

  const uint64_t size_;
  Random random_;
  std::vector<std::string> taken_;
  StageMemory memory_;
  size_t next_ = 0;
  bool loaded_ = false;
};

}  // namespace

Status ParseSample(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(bson::Type::kObject))
    return {Location(28745), "the $sample stage specification must be an object"};
  int64_t size = 0;
  for (const bson::Element& option : specification.AsView()) {
    if (option.name != "size") return {Location(28748), StrCat("unrecognized option to $sample: ", option.name)};
    const auto number = bson::NumberOf(option.value);
    if (!number) return {Location(28746), "size argument to $sample must be a number"};
    size = number->ToInt64Clamped();
    if (size <= 0) return {Location(28747), "size argument to $sample must be a positive integer"};
  }
  if (size == 0) return {Location(28749), "$sample stage must specify a size"};
  parser.stages.push_back(std::make_unique<Sample>(name, specification, static_cast<uint64_t>(size)));
  return {};
}

}  // namespace braid::query::pipeline
