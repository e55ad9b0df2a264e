// Messages that cannot be processed, kept with the reason (A7).
#include "services/staking/ingestor.h"

#include <openssl/sha.h>

#include <deque>
#include <unordered_set>

#include "base/strings.h"
#include "braid/clock.h"
#include "braid/transaction.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/staking/tables.h"

namespace braid::staking {
namespace {

constexpr size_t kKeptBytesMax = 1 << 20;
constexpr size_t kMessagesMax = 1000;   // a transaction
constexpr size_t kBytesMax = 32 << 20;  // a transaction

std::string Sha256(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return Hex({reinterpret_cast<const char*>(digest), sizeof digest});
}

// Without cutting a character in two.
std::string_view Beginning(std::string_view text) {
  if (text.size() <= kKeptBytesMax) return text;
  size_t end = kKeptBytesMax;
  while (end > kKeptBytesMax - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

Status KeepSome(Clients& clients, const std::string& database, const std::string& collection,
                std::span<const BadMessage> messages) {
  std::vector<std::string> ids;
  for (const BadMessage& message : messages) ids.push_back(Sha256(message.text));
  return RunTransaction(clients, {.database = database}, [&](Transaction& transaction) -> Status {
    std::unordered_set<std::string> known;
    BRAID_CHECK_OK(transaction.FindIds(collection, ids, [&](const bson_t& document) {
      known.emplace(client::TextOf(&document, "_id"));
      return Status();
    }));
    std::deque<client::Bson> documents;
    std::vector<const bson_t*> inserts;
    for (size_t i = 0; i < messages.size(); ++i) {
      if (!known.insert(ids[i]).second) continue;
      client::Bson& document = documents.emplace_back();
      const std::string_view text = Beginning(messages[i].text);
      document.Text("_id", ids[i]);
      // A zero byte is legal in a BSON string, but not for every client.
      if (IsUtf8(text) && text.find('\0') == std::string_view::npos) {
        document.Text("message", text);
      } else {
        document.Binary("message", text);
      }
      document.Text("reason", messages[i].reason);
      if (!messages[i].file.empty()) {
        document.Text("file", messages[i].file).Integer("line", static_cast<int64_t>(messages[i].line));
      }
      document.Integer("bytes", static_cast<int64_t>(messages[i].text.size()))
          .Date("received_at", Clock::System().NowMillis());
      inserts.push_back(document.get());
    }
    return transaction.Insert(collection, inserts);
  });
}

}  // namespace

Status Keep(Clients& clients, const std::string& database, const std::string& collection,
            std::span<const BadMessage> messages) {
  size_t begin = 0;
  size_t bytes = 0;
  for (size_t i = 0; i < messages.size(); ++i) {
    bytes += Beginning(messages[i].text).size();
    if (i + 1 < messages.size() && i - begin + 1 < kMessagesMax && bytes < kBytesMax) continue;
    BRAID_CHECK_OK(KeepSome(clients, database, collection, messages.subspan(begin, i + 1 - begin)));
    begin = i + 1;
    bytes = 0;
  }
  return {};
}

}  // namespace braid::staking
