// Node: the tree of all paths of an update, one node per path component, with operations at the leaves.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/language/update/operators.h"

namespace braid::update {

/// Immutable once the update is parsed; merged nodes share their subtrees.
///   leaf      operation set, nothing else
///   fields    children by field name or array index, in FieldOrder; `positional` for a `$`
///   elements  children by identifier of `$[identifier]`; "" for `$[]`
struct Node {
  enum class Kind { kLeaf, kFields, kElements };
  struct Child {
    std::string name;
    std::shared_ptr<const Node> node;
  };
  Kind kind = Kind::kFields;
  OperationPtr operation;
  std::vector<Child> children;
  std::shared_ptr<const Node> positional;

  /// The child of that name; null if there is none. Fields only.
  const Child* Find(std::string_view name) const;
};

/// The order in which operators run and new fields appear: array indexes first, by number, then names by bytes.
bool FieldOrder(std::string_view a, std::string_view b);

/// The value of an array index; nullopt for any other name.
std::optional<uint64_t> ArrayIndex(std::string_view name);

/// The identifier of "$[identifier]"; nullopt for any other path component.
std::optional<std::string_view> ElementsIdentifier(std::string_view component);

/// Checks that an update may name this path: not too long, no empty part, no positional one where none can be. Names
/// that begin with '$' are allowed here; CheckDollarFields checks what is written.
Status CheckPath(std::string_view path);

/// The union of two trees; kConflictingUpdateOperators if one has a leaf where the other has anything. `path` leads to
/// both.
Result<std::shared_ptr<const Node>> Merge(const std::shared_ptr<const Node>& a, const std::shared_ptr<const Node>& b,
                                          const std::string& path);

/// Grows a tree path by path; each costs its length and a search in sorted children, however many there are.
class TreeBuilder {
 public:
  TreeBuilder();
  ~TreeBuilder();
  /// The path has passed CheckPath. kConflictingUpdateOperators if it ends at or goes through an older one.
  Status Add(std::string_view path, OperationPtr operation);
  /// Null if nothing was added.
  std::shared_ptr<const Node> Finish() const;

 private:
  struct Growing;
  std::unique_ptr<Growing> root_;
};

}  // namespace braid::update
