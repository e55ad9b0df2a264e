// Client metadata: the client's description of itself in the first hello of its connection.
#pragma once

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::commands {

constexpr size_t kClientMetadataBytesMax = 512;

/// MongoDB's rules for `client` of a hello: at most 512 bytes, driver and os described, and an application's name of at
/// most 128 bytes. kTypeMismatch, kClientMetadataMissingField, kClientMetadataAppNameTooLarge or
/// kClientMetadataDocumentTooLarge.
Status CheckClientMetadata(const bson::Value& metadata);

}  // namespace braid::commands
