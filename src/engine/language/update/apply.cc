#include "engine/language/update/apply.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/strings.h"
#include "base/work.h"

namespace braid::update {
namespace {

constexpr uint64_t kBackfillMax = 1'500'000;  // a larger index beyond the end is taken for a mistake

/// Which children of a node were met in the document; no allocation for the usual few.
class Seen {
 public:
  explicit Seen(size_t count)
      : more_(count > few_.size() ? count : 0), flags_(more_.empty() ? few_.data() : more_.data()) {}
  bool Add(size_t index) { return !std::exchange(flags_[index], 1); }
  bool Has(size_t index) const { return flags_[index] != 0; }

 private:
  std::array<char, 32> few_{};
  std::vector<char> more_;
  char* flags_;
};

/// Collects unchanged bytes until a change comes, so that neighbours are copied together.
class CopyRun {
 public:
  explicit CopyRun(bson::Builder& out) : out_(out) {}
  void Add(std::string_view raw) {
    BRAID_ASSERT(size_ == 0 || raw.data() == start_ + size_);  // neighbours only
    if (size_ == 0) start_ = raw.data();
    size_ += raw.size();
  }
  void Flush() {
    if (size_ > 0) out_.AppendRaw({start_, size_});
    size_ = 0;
  }

 private:
  bson::Builder& out_;
  const char* start_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

Result<Effect> Applier::Apply(const NodePtr& node, const Target& target) {
  switch (node->kind) {
    case Node::Kind::kLeaf: {
      BRAID_ASSERT(node->operation != nullptr);
      if (target.current.missing() && !node->operation->Creates(context_)) return Effect::kNone;
      BRAID_TRY(const Effect change, node->operation->Apply(target, context_, out_));
      if (change != Effect::kNone) context_.changed = true;
      return change;
    }
    case Node::Kind::kFields: return ApplyFields(node, target);
    case Node::Kind::kElements: return ApplyElements(*node, target);
  }
  return Effect::kNone;
}

Result<Effect> Applier::ApplyFields(const NodePtr& unresolved, const Target& target) {
  BRAID_TRY(const NodePtr node, Resolve(unresolved));
  if (target.current.missing()) return Missing(*node, target.name);
  if (target.current.Is(bson::Type::kObject)) {
    out_.OpenObject(target.name);
    BRAID_CHECK_OK(Fields(*node, target.current.AsView()));
    out_.Close();
    return Effect::kWritten;
  }
  if (target.current.Is(bson::Type::kArray)) {
    out_.OpenArray(target.name);
    ++context_.arrays_entered;
    BRAID_CHECK_OK(Indexes(*node, target.current.AsView()));
    --context_.arrays_entered;
    out_.Close();
    return Effect::kWritten;
  }
  for (const Node::Child& child : node->children) {
    BRAID_CHECK_OK(DeadEnds(child.node, target.current, child.name));
  }
  return Effect::kNone;
}

Status Applier::Fields(const Node& node, bson::View object) {
  Seen seen(node.children.size());
  size_t unseen = node.children.size();
  CopyRun run(out_);
  auto it = object.begin();
  for (const auto end = object.end(); it != end && unseen > 0; ++it) {
    const Node::Child* child = node.Find(it->name);
    if (child == nullptr || !seen.Add(static_cast<size_t>(child - node.children.data()))) {
      run.Add(it.raw());
      continue;
    }
    --unseen;
    run.Flush();
    auto change = Apply(child->node, {.name = it->name, .current = it->value});
    if (!change.ok()) return FirstError(node, object, child, change.error());
    if (*change == Effect::kNone) run.Add(it.raw());
  }
  run.Flush();
  if (it != object.end()) {  // every child was met: the rest is a copy
    const char* rest = it.raw().data();
    out_.AppendRaw({rest, static_cast<size_t>(object.data() + object.size() - 1 - rest)});
  }
  for (size_t i = 0; unseen > 0 && i < node.children.size(); ++i) {
    if (!seen.Has(i)) BRAID_CHECK_OK(Apply(node.children[i].node, {.name = node.children[i].name, .current = {}}));
  }
  return {};
}

Status Applier::FirstError(const Node& node, bson::View object, const Node::Child* until, Status error) {
  Work& work = Work::Current();
  for (const Node::Child* child = node.children.data(); child != until; ++child) {
    BRAID_CHECK_OK(work.Tick(StepsFor(object.size())));
    BRAID_CHECK_OK(Apply(child->node, {.name = child->name, .current = object.Find(child->name)}));
  }
  return error;
}

Status Applier::Indexes(const Node& node, bson::View array) {
  auto child = node.children.begin();
  const auto end = node.children.end();
  CopyRun run(out_);
  uint64_t size = 0;
  for (auto it = array.begin(); it != array.end(); ++it, ++size) {
    Effect change = Effect::kNone;
    if (child != end && ArrayIndex(child->name) == size) {
      run.Flush();
      BRAID_TRY(change, Apply(child->node, {.name = it->name, .current = it->value, .in_array = true}));
      ++child;
    }
    if (change == Effect::kNone) run.Add(it.raw());
  }
  run.Flush();
  const uint64_t old_size = size;
  for (; child != end; ++child) {
    const std::optional<uint64_t> index = ArrayIndex(child->name);
    if (!index.has_value()) {
      BRAID_CHECK_OK(DeadEnds(child->node, {bson::Type::kArray, array.data(), array.size()}, child->name));
      continue;
    }
    if (*index < old_size) {  // "0" and "00": two names of one element
      return {Code::kConflictingUpdateOperators, StrCat("Two paths of the update lead to the array index ", *index)};
    }
    BRAID_TRY(const bool creates, Creates(child->node));
    if (!creates) continue;
    if (*index > kBackfillMax) {
      return {Code::kCannotBackfillArray, StrCat("Cannot fill an array with more than ", kBackfillMax, " nulls")};
    }
    for (; size < *index; ++size) out_.Append(std::to_string(size), bson::Null{});
    BRAID_CHECK_OK(Apply(child->node, {.name = std::to_string(size), .current = {}, .in_array = true}));
    ++size;
  }
  return {};
}

Result<Effect> Applier::Missing(const Node& node, std::string_view name) {
  bool creates = false;
  for (const Node::Child& child : node.children) {
    BRAID_TRY(const bool below, Creates(child.node));
    creates = creates || below;
  }
  if (!creates) return Effect::kNone;
  out_.OpenObject(name);
  for (const Node::Child& child : node.children) {
    BRAID_CHECK_OK(Apply(child.node, {.name = child.name, .current = {}}));
  }
  out_.Close();
  return Effect::kWritten;
}

Result<bool> Applier::Creates(const NodePtr& unresolved) {
  BRAID_ASSERT(unresolved->kind != Node::Kind::kLeaf || unresolved->operation != nullptr);
  if (unresolved->kind == Node::Kind::kLeaf) return unresolved->operation->Creates(context_);
  if (unresolved->kind == Node::Kind::kElements) {
    BRAID_CHECK_OK(ApplyElements(*unresolved, {}));  // an error: there is no array
  }
  BRAID_TRY(const NodePtr node, Resolve(unresolved));
  bool creates = false;
  for (const Node::Child& child : node->children) {
    BRAID_TRY(const bool below, Creates(child.node));
    creates = creates || below;
  }
  return creates;
}

Status Applier::DeadEnds(const NodePtr& node, const bson::Value& element, std::string_view part) {
  BRAID_ASSERT(node->kind != Node::Kind::kLeaf || node->operation != nullptr);
  if (node->kind == Node::Kind::kLeaf) return node->operation->DeadEnd(element, part, context_);
  if (node->kind == Node::Kind::kElements) return ApplyElements(*node, {}).status();
  BRAID_TRY(const NodePtr resolved, Resolve(node));
  for (const Node::Child& child : resolved->children) BRAID_CHECK_OK(DeadEnds(child.node, element, part));
  return {};
}

Result<Effect> Applier::ApplyElements(const Node& node, const Target& target) {
  BRAID_ASSERT(!node.children.empty());  // it names at least one identifier
  if (target.current.missing()) {
    return Status(Code::kBadValue, StrCat("The array that '$[", node.children.front().name,
                                          "]' refers to must exist in document ", IdText(context_)));
  }
  if (!target.current.Is(bson::Type::kArray)) {
    return Status(Code::kBadValue,
                  StrCat("Cannot apply '$[", node.children.front().name, "]' to '", target.name, "', which is of type ",
                         bson::TypeName(target.current.type()), " and no array"));
  }
  out_.OpenArray(target.name);
  ++context_.arrays_entered;
  const bson::View array = target.current.AsView();
  CopyRun run(out_);
  Work& work = Work::Current();
  for (auto it = array.begin(); it != array.end(); ++it) {
    BRAID_CHECK_OK(work.Tick(node.children.size()));
    BRAID_TRY(const NodePtr element_node, ElementNode(node, it->value));
    Effect change = Effect::kNone;
    if (element_node != nullptr) {
      run.Flush();
      BRAID_TRY(change, Apply(element_node, {.name = it->name, .current = it->value, .in_array = true}));
    }
    if (change == Effect::kNone) run.Add(it.raw());
  }
  run.Flush();
  --context_.arrays_entered;
  out_.Close();
  return Effect::kWritten;
}

Result<Applier::NodePtr> Applier::ElementNode(const Node& node, const bson::Value& element) {
  std::vector<const Node*> matching;
  NodePtr first;
  for (const Node::Child& child : node.children) {
    BRAID_TRY(const bool matches, filters_.Matches(child.name, element));
    if (!matches) continue;
    if (first == nullptr) first = child.node;
    if (node.children.size() > 1) matching.push_back(child.node.get());
  }
  if (matching.size() < 2) return first;
  NodePtr& combined = combined_[matching];
  if (combined == nullptr) {
    for (const Node::Child& child : node.children) {
      if (std::ranges::find(matching, child.node.get()) == matching.end()) continue;
      BRAID_TRY(combined, Merge(combined, child.node, StrCat("$[", child.name, "]")));
    }
  }
  return combined;
}

Result<Applier::NodePtr> Applier::Resolve(const NodePtr& node) {
  if (node->positional == nullptr) return node;
  if (context_.array_index < 0) {
    return Status(Code::kBadValue, "The positional operator did not find the match needed from the query.");
  }
  NodePtr& resolved = resolved_[node.get()];
  if (resolved == nullptr) {
    auto named = std::make_shared<Node>(*node);
    named->positional = nullptr;
    auto indexed = std::make_shared<Node>();
    indexed->children.push_back({std::to_string(context_.array_index), node->positional});
    BRAID_TRY(resolved, Merge(named, indexed, ""));
  }
  return resolved;
}

}  // namespace braid::update
