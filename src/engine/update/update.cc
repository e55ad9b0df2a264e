#include "engine/update/update.h"

#include "base/strings.h"
#include "engine/update/kinds.h"

namespace braid::update {

Result<std::unique_ptr<const Update>> Update::Parse(const bson::Value& u, const Options& options,
                                                    const EnvironmentPtr& environment) {
  if (u.Is(bson::Type::kArray)) return ParsePipeline(u.AsView(), options, environment);
  if (!u.Is(bson::Type::kObject)) {
    return Status(Code::kFailedToParse,
                  StrCat("An update must be an object or an array, not a value of type ", bson::TypeName(u.type())));
  }
  const bson::View specification = u.AsView();
  const bool operators = !specification.empty() && specification.begin()->name.starts_with("$");
  return operators ? ParseOperators(specification, options, environment)
                   : ParseReplacement(specification, options, environment);
}

}  // namespace braid::update
