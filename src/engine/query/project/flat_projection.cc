// A projection that shows or hides whole top-level fields: neighbours that are shown are copied as one run of bytes.

#include <algorithm>

#include "engine/query/project/projection_plan.h"

namespace braid::query {
namespace {

constexpr size_t kInclusionBytes = 256;  // enough for most of what is asked for, and little to waste

class FlatProjection : public Projection {
 public:
  FlatProjection(bool includes, std::vector<std::string> names)
      : includes_(includes),
        names_(std::move(names)),
        index_({names_.begin(), names_.end()}),
        needed_(names_.begin(), names_.end()) {}

  Result<bson::Document> Apply(bson::View document, bson::Arena&) const override {
    std::string out;
    out.reserve(includes_ ? std::min<size_t>(document.size(), kInclusionBytes) : document.size());
    out.append(4, '\0');

    const char* run = document.data() + 4;  // what is between here and the current field is shown
    size_t named_left = index_.size();
    auto it = document.begin();
    const auto end = document.end();
    for (; it != end && named_left > 0; ++it) {
      const bool named = index_.Find(it->name) >= 0;
      named_left -= named ? 1 : 0;
      if (named == includes_) continue;
      out.append(run, it.raw().data());
      run = it.raw().data() + it.raw().size();
    }
    const char* const terminator = document.data() + document.size() - 1;
    out.append(run, includes_ && it != end ? it.raw().data() : terminator);

    out.push_back('\0');
    const auto size = static_cast<uint32_t>(out.size());
    std::memcpy(out.data(), &size, sizeof(size));
    return bson::Document(std::move(out));
  }

  const std::set<std::string>* needed_paths() const override { return includes_ ? &needed_ : nullptr; }
  bool identity() const override { return !includes_ && names_.empty(); }

 private:
  const bool includes_;
  const std::vector<std::string> names_;
  const FieldIndex index_;  // over names_
  const std::set<std::string> needed_;
};

}  // namespace

ProjectionPtr MakeFlatProjection(const ProjectionPlan& plan) {
  if (plan.mode == ProjectionPlan::Mode::kAddition) return nullptr;
  const bool includes = plan.mode == ProjectionPlan::Mode::kInclusion;
  const auto wanted = includes ? ProjectionNode::Kind::kInclude : ProjectionNode::Kind::kExclude;
  std::vector<std::string> names;
  for (const auto& child : plan.root.children) {
    if (child->kind != wanted) return nullptr;
    names.push_back(child->name);
  }
  return std::make_unique<FlatProjection>(includes, std::move(names));
}

}  // namespace braid::query
