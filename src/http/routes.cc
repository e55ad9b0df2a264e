#include "http/routes.h"

#include <simdjson.h>

#include "base/strings.h"
#include "http/app.h"

namespace braid::http {
namespace {

class PagesProducer final : public Producer {
 public:
  PagesProducer(std::function<Result<LinePage>(const std::string&)> page, std::string after)
      : page_(std::move(page)), after_(std::move(after)) {}

  Result<bool> Next(std::string& out) override {
    BRAID_TRY(LinePage page, page_(after_));
    out += page.lines;
    after_ = std::move(page.next);
    return !after_.empty();
  }

 private:
  const std::function<Result<LinePage>(const std::string&)> page_;
  std::string after_;
};

constexpr std::string_view kErrorSchema = R"({
  "type": "object", "required": ["error"],
  "properties": {"error": {"type": "object", "required": ["code", "message"],
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}}}}})";

template <typename T>
void Append(std::span<const T> from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Status ForEachDocument(client::CursorPtr cursor, const std::function<void(const bson_t&)>& each) {
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) each(*document);
  bson_error_t error{};
  return mongoc_cursor_error(cursor.get(), &error) ? client::FromError(error) : Status();
}

Result<std::vector<std::string>> ObjectsOf(const std::string& body, std::string_view what) {
  const simdjson::padded_string padded(body);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(padded).get(root); error != simdjson::SUCCESS) {
    return Status(Code::kFailedToParse, StrCat("the body is not JSON: ", simdjson::error_message(error)));
  }
  if (root.is_object()) return std::vector<std::string>{simdjson::minify(root)};
  simdjson::dom::array array;
  if (root.get_array().get(array) != simdjson::SUCCESS) {
    return Status(Code::kTypeMismatch, StrCat("the body must be ", what, " or an array of them"));
  }
  std::vector<std::string> objects;
  objects.reserve(array.size());
  for (const simdjson::dom::element object : array) objects.push_back(simdjson::minify(object));
  return objects;
}

Response LinesResponse(std::function<Result<LinePage>(const std::string& after)> page, std::string after) {
  Response response{.content_type = std::string(kNdjson)};
  response.producer = std::make_unique<PagesProducer>(std::move(page), std::move(after));
  return response;
}

std::span<const Route> AllRoutes() {
  static const std::vector<Route> routes = [] {
    std::vector<Route> all;
    Append(StakingRoutes(), all);
    Append(ExplorerRoutes(), all);
    Append(SettlementRoutes(), all);
    Append(ShopRoutes(), all);
    Append(ShardRoutes(), all);
    Append(DemoRoutes(), all);
    Append(OperationRoutes(), all);
    return all;
  }();
  return routes;
}

std::span<const Schema> AllSchemas() {
  static const std::vector<Schema> schemas = [] {
    std::vector<Schema> all = {{"Error", kErrorSchema}};
    Append(StakingSchemas(), all);
    Append(ExplorerSchemas(), all);
    Append(SettlementSchemas(), all);
    Append(ShopSchemas(), all);
    Append(ShardSchemas(), all);
    Append(DemoSchemas(), all);
    Append(OperationSchemas(), all);
    return all;
  }();
  return schemas;
}

}  // namespace braid::http
