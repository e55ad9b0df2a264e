// OP_MSG: the form of every request after the handshake.
#include "base/strings.h"
#include "engine/bson/validate.h"
#include "engine/wire/crc32c.h"
#include "engine/wire/message.h"

namespace braid::wire::internal {
namespace {

constexpr uint32_t kChecksumPresent = 1u << 0;
constexpr uint32_t kMoreToCome = 1u << 1;
constexpr uint32_t kRequiredBits = 0xFFFFu;  // an unknown one must be refused; the upper half may be ignored
constexpr size_t kSequencesMax = 2;
constexpr uint8_t kKindBody = 0;
constexpr uint8_t kKindSequence = 1;

Result<bson::View> ReadDocument(std::string_view& rest) {
  BRAID_TRY(const bson::View document, bson::Validate(rest));
  if (document.size() > bson::kInternalBytesMax) {
    return Status(Code::kBSONObjectTooLarge,
                  StrCat("a document of ", document.size(), " bytes: the limit is ", bson::kInternalBytesMax));
  }
  rest.remove_prefix(document.size());
  return document;
}

Status ReadBody(std::string_view& rest, bool& has_body, commands::Request& request) {
  if (has_body) return Status(Location(40430), "Multiple body sections in message");
  has_body = true;
  BRAID_TRY(request.body, ReadDocument(rest));
  return {};
}

Status ReadSequence(std::string_view& rest, commands::Request& request) {
  if (rest.size() < 4) return Status(Code::kProtocolError, "OP_MSG ends inside a section");
  const auto size = bson::Load<uint32_t>(rest.data());
  if (size < 5 || size > rest.size()) {
    return Status(Code::kProtocolError, StrCat("a section claims ", size, " bytes, ", rest.size(), " are left"));
  }
  std::string_view section = rest.substr(4, size - 4);
  rest.remove_prefix(size);
  const size_t name_end = section.find('\0');
  if (name_end == std::string_view::npos) return Status(Code::kProtocolError, "a section's name has no end");
  const std::string_view name = section.substr(0, name_end);
  section.remove_prefix(name_end + 1);
  for (const commands::DocumentSequence& other : request.sequences) {
    if (other.name == name) return Status(Location(40431), StrCat("Duplicate document sequence: ", name));
  }
  if (request.sequences.size() == kSequencesMax) {
    return Status(Code::kTooManyDocumentSequences, "Too many document sequences in OP_MSG");
  }
  commands::DocumentSequence& sequence = request.sequences.emplace_back();
  sequence.name = name;
  while (!section.empty()) {
    BRAID_TRY(const bson::View document, ReadDocument(section));
    sequence.documents.push_back(document);
  }
  return {};
}

Status ReadSections(std::string_view rest, commands::Request& request) {
  bool has_body = false;
  while (!rest.empty()) {
    const auto kind = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    switch (kind) {
      case kKindBody: BRAID_CHECK_OK(ReadBody(rest, has_body, request)); break;
      case kKindSequence: BRAID_CHECK_OK(ReadSequence(rest, request)); break;
      default: return Status(Location(40432), StrCat("Unknown section kind ", kind));
    }
  }
  if (!has_body) return Status(Location(40587), "OP_MSG messages must have a body");
  return {};
}

// One pass over the body: the command's name, its database, and that no sequence's name is used twice.
Status ReadEnvelope(commands::Request& request) {
  bson::Value database;
  for (const bson::Element& field : request.body) {
    if (request.name.data() == nullptr) request.name = field.name;
    if (field.name == "$db") database = field.value;
    for (const commands::DocumentSequence& sequence : request.sequences) {
      if (sequence.name == field.name) {
        return Status(Location(40433), StrCat("Duplicate field between body and document sequence ", field.name));
      }
    }
  }
  if (database.missing()) return Status(Location(40571), "OP_MSG requests require a $db argument");
  if (!database.Is(bson::Type::kString)) {
    return Status(Code::kTypeMismatch, StrCat("$db must be a string, not of type ", bson::TypeName(database.type())));
  }
  request.database = database.AsString();
  return {};
}

}  // namespace

void ParseFlags(uint32_t flags, Message& message) {
  message.request.reply_wanted = (flags & kMoreToCome) == 0;
  message.answerable = message.request.reply_wanted;
  message.checksum = (flags & kChecksumPresent) != 0;
}

Status ParseMsg(std::string_view whole, Message& message) {
  std::string_view rest = whole.substr(kHeaderBytes);
  if (rest.size() < 4) return Status(Code::kProtocolError, "OP_MSG without flags");
  const auto flags = bson::Load<uint32_t>(rest.data());
  rest.remove_prefix(4);
  commands::Request& request = message.request;
  ParseFlags(flags, message);
  if (const uint32_t unknown = flags & kRequiredBits & ~(kChecksumPresent | kMoreToCome); unknown != 0) {
    return Status(Code::kIllegalOpMsgFlag, StrCat("Message contains illegal flags value: ", unknown));
  }
  if ((flags & kChecksumPresent) != 0) {
    if (rest.size() < 4) return Status(Code::kProtocolError, "OP_MSG ends before its checksum");
    const size_t covered = whole.size() - 4;
    if (Crc32c(whole.substr(0, covered)) != bson::Load<uint32_t>(whole.data() + covered)) {
      return Status(Code::kChecksumMismatch, "OP_MSG checksum does not match contents");
    }
    rest.remove_suffix(4);
  }
  BRAID_CHECK_OK(ReadSections(rest, request));
  return ReadEnvelope(request);
}

}  // namespace braid::wire::internal
