// Products as documents.
#pragma once

#include <map>
#include <span>

#include "client/handles.h"
#include "services/shop/documents.h"
#include "services/shop/shop.h"

namespace braid::shop {

/// kBadValue if it is not one of the shop's.
Result<Product> ProductOf(const bson_t& document);

/// Refused::kUnknownProduct.
Result<Product> FindProduct(Reads& reads, const std::string& product_id);

/// Those of the ids that there are.
Result<std::map<std::string, Product>> FindProducts(Reads& reads, std::span<const std::string> ids);

/// The attributes as a document, or as fields "attrs.NAME" of a filter.
void AppendAttr(client::Bson& document, const char* key, const AttrValue& value);

Status CheckAttrs(const Attrs& attrs);

}  // namespace braid::shop
