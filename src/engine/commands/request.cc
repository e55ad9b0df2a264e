// The check of the description that a client gives of itself.
#include "engine/commands/request.h"

#include <span>

#include "base/strings.h"

namespace braid::commands {
namespace {

constexpr size_t kApplicationNameBytesMax = 128;

bool IsDocument(const bson::Value& value) { return value.Is(bson::Type::kObject) || value.Is(bson::Type::kArray); }

// A part of the metadata, such as `driver`, and the strings that it must have.
Status CheckPart(bson::View metadata, std::string_view part, std::span<const std::string_view> required) {
  const bson::Value value = metadata.Find(part);
  if (value.missing()) {
    return {Code::kClientMetadataMissingField,
            StrCat("Missing required sub-document '", part, "' in the client metadata document")};
  }
  if (!IsDocument(value)) {
    return {Code::kTypeMismatch,
            StrCat("The '", part, "' field is required to be a BSON document in the client metadata document")};
  }
  for (const std::string_view name : required) {
    const bson::Value field = value.AsView().Find(name);
    if (field.missing()) {
      return {Code::kClientMetadataMissingField,
              StrCat("Missing required field '", part, ".", name, "' in the client metadata document")};
    }
    if (!field.Is(bson::Type::kString)) {
      return {Code::kTypeMismatch,
              StrCat("The '", part, ".", name, "' field must be a string in the client metadata document")};
    }
  }
  return {};
}

Status CheckApplication(bson::View metadata) {
  const bson::Value application = metadata.Find("application");
  if (application.missing()) return {};
  BRAID_CHECK_OK(CheckPart(metadata, "application", {}));
  const bson::Value name = application.AsView().Find("name");
  if (name.missing()) return {};
  if (!name.Is(bson::Type::kString)) {
    return {Code::kTypeMismatch, "The 'application.name' field must be a string in the client metadata document"};
  }
  if (name.AsString().size() > kApplicationNameBytesMax) {
    return {Code::kClientMetadataAppNameTooLarge,
            StrCat("The 'application.name' field must be less then or equal to ", kApplicationNameBytesMax,
                   " bytes in the client metadata document")};
  }
  return {};
}

}  // namespace

Status CheckClientMetadata(const bson::Value& metadata) {
  static constexpr std::string_view kDriver[] = {"name", "version"};
  static constexpr std::string_view kOs[] = {"type"};
  if (!IsDocument(metadata)) return {Code::kTypeMismatch, "The client metadata document must be a document"};
  if (metadata.AsView().size() > kClientMetadataBytesMax) {
    return {Code::kClientMetadataDocumentTooLarge,
            StrCat("The client metadata document must be less then or equal to ", kClientMetadataBytesMax, " bytes")};
  }
  BRAID_CHECK_OK(CheckApplication(metadata.AsView()));
  BRAID_CHECK_OK(CheckPart(metadata.AsView(), "driver", kDriver));
  return CheckPart(metadata.AsView(), "os", kOs);
}

}  // namespace braid::commands
