// EpochRecount: computes what an epoch must have added from its blocks and transactions, and compares it with what is
// stored.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "braid/timeline.h"
#include "client/handles.h"
#include "services/explorer/documents.h"

namespace braid::explorer {

/// The documents of one epoch. One thread; the documents must outlive it.
class EpochRecount {
 public:
  EpochRecount(Transaction& transaction, const EpochDocuments& documents, const Timeline::OnDamage& damage)
      : transaction_(transaction), documents_(documents), damage_(damage) {}

  /// Reports documents that are missing, superfluous or different. An error means that the store failed.
  Status Run();

  int64_t blocks() const { return static_cast<int64_t>(blocks_.size()); }
  int64_t transactions() const { return static_cast<int64_t>(transactions_.size()); }

 private:
  /// A transaction of an earlier epoch that this one carries again or has a receipt of.
  struct Earlier {
    int64_t score = 0;
    std::string timestamp;
    bool names_contract = false;
  };
  using Documents = std::vector<const bson_t*>;

  Documents Of(const char* collection) const;
  void Report(const char* collection, std::string_view id, std::string_view what);
  void Index();
  Status LoadEarlier();
  Status LoadEarlierMiners();
  void CheckBlock(const bson_t& block, int64_t score);
  void CountRows(const bson_t& block, BlockRow& counts);
  void CountRow(const bson_t& block, const bson_t& row, BlockRow& counts);
  void CheckTransaction(const bson_t& transaction, const bson_t& block);
  void ExpectLists(const BlockRow& row, int64_t score);
  Status CheckReceipts();
  void CheckRest();
  /// Ends a document that must be there.
  void Expect(const char* collection, client::Bson& document);
  void Compare(const char* collection);

  Transaction& transaction_;
  const EpochDocuments& documents_;
  const Timeline::OnDamage& damage_;

  Documents blocks_;  // by score
  std::unordered_map<std::string_view, const bson_t*> transactions_;
  std::unordered_map<std::string_view, std::map<std::string_view, const bson_t*>> rows_;  // by block, then _id
  std::unordered_map<std::string, Earlier> earlier_;
  std::unordered_set<std::string> miners_;        // those with an earlier block
  std::unordered_set<std::string_view> carried_;  // transactions of this epoch that a block has carried
  int64_t next_transaction_ = 0;                  // its score
  std::map<std::string, std::string> sums_;       // of blocks_in_order so far
  std::map<std::string_view, std::unordered_map<std::string, std::string>> expected_;  // collection, _id, document
};

}  // namespace braid::explorer
