// Applies a tree of operations to a document in one pass: unchanged bytes are copied in runs.
#pragma once

#include <map>
#include <vector>

#include "engine/language/update/array_filters.h"
#include "engine/language/update/update_node.h"

namespace braid::update {

/// One application of a tree to one document. Not thread-safe, used once. Operations are applied in the order of the
/// document, which saves a pass; errors are reported in the order of the tree.
class Applier {
 public:
  Applier(const ArrayFilters& filters, ApplyContext& context, bson::Builder& out)
      : filters_(filters), context_(context), out_(out) {}

  /// Writes the fields of the new document to `out`; context.changed says whether they differ from the old ones.
  Status Run(const std::shared_ptr<const Node>& root) { return Fields(*root, context_.before); }

 private:
  using NodePtr = std::shared_ptr<const Node>;

  Result<Effect> Apply(const NodePtr& node, const Target& target);
  Result<Effect> ApplyFields(const NodePtr& node, const Target& target);
  Result<Effect> ApplyElements(const Node& node, const Target& target);

  /// An existing document: its fields, then the new ones.
  Status Fields(const Node& node, bson::View object);
  /// An existing array whose children are indexes.
  Status Indexes(const Node& node, bson::View array);
  /// A path that does not exist: writes a document under `name` if some operation below makes one.
  Result<Effect> Missing(const Node& node, std::string_view name);
  Result<bool> Creates(const NodePtr& node);
  /// Nothing below the node can be reached, because `element` has no `part`: the first error of the operations, if any.
  Status DeadEnds(const NodePtr& node, const bson::Value& element, std::string_view part);
  Status FirstError(const Node& node, bson::View object, const Node::Child* until, Status error);

  /// The node with `$` replaced by the index that the query matched.
  Result<NodePtr> Resolve(const NodePtr& node);
  Result<NodePtr> ElementNode(const Node& node, const bson::Value& element);

  const ArrayFilters& filters_;
  ApplyContext& context_;
  bson::Builder& out_;
  std::map<const Node*, NodePtr> resolved_;               // by the node with the `$`
  std::map<std::vector<const Node*>, NodePtr> combined_;  // for elements that several identifiers stand for
};

}  // namespace braid::update
