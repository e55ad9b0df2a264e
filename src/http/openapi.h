// The OpenAPI 3.1 document of a table of routes, and the page that shows it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/route.h"

namespace braid::http {

/// A named schema, in JSON.
struct Schema {
  std::string_view name;
  std::string_view json;
};
std::span<const Schema> AllSchemas();

std::string OpenApiDocument(std::span<const Route> routes, std::span<const Schema> schemas);

/// A page without anything from elsewhere that reads /openapi.json and shows it.
std::string_view DocumentationPage();

}  // namespace braid::http
