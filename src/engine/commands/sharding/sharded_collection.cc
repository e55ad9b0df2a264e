#include "engine/commands/sharding/sharded_collection.h"

#include "base/strings.h"
#include "engine/commands/parts.h"

namespace braid::commands {

Result<catalog::CollectionPtr> FindSharded(const EngineParts& engine, std::string_view full_name) {
  const size_t dot = full_name.find('.');
  if (dot == std::string_view::npos) {
    return Status(Code::kInvalidNamespace, StrCat("Invalid namespace: ", full_name));
  }
  BRAID_TRY(const catalog::Namespace ns, catalog::Namespace::Make(full_name.substr(0, dot), full_name.substr(dot + 1)));
  catalog::CollectionPtr collection = engine.catalog->Find(ns);
  if (collection == nullptr || !collection->sharded()) {
    return Status(Code::kNamespaceNotSharded, StrCat("Collection ", full_name, " is not sharded."));
  }
  return collection;
}

}  // namespace braid::commands
