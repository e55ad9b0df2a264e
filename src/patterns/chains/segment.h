// Segments: the records of one chain that were committed together, as one document of the log (format: braid/chains.h).
#pragma once

#include <mongoc/mongoc.h>

#include <string>
#include <string_view>
#include <vector>

#include "braid/chains.h"
#include "client/handles.h"

namespace braid::chains {

/// Collects records and makes a document of them. Can be filled again without allocating memory again.
class SegmentBuilder {
 public:
  struct Stamp {
    int64_t epoch = 0;
    int64_t created_at = 0;
    int compression_level = 0;
  };

  void Clear();
  /// Records of one chain in order, each with the hashes it has there.
  void Add(const ChainRecordView& record);
  bool empty() const { return sequences_.empty(); }
  /// Of the records, uncompressed.
  size_t size() const { return plain_.size(); }
  void Finish(const Stamp& stamp, client::Bson& document) const;

 private:
  int64_t chain_ = 0;
  ChainHash prev_hash_{};  // of the first record
  std::vector<int64_t> sequences_;
  std::string hashes_;
  std::string plain_;
};

/// A parsed document of the log. The records are views that are valid until the next Read(), as long as this object and
/// the document exist.
class Segment {
 public:
  /// Checks everything but the records' hashes and their link to what comes before. kRecordDamaged: no records can be
  /// read from it. Otherwise problems() says which of the redundant fields differ.
  Status Read(const bson_t& document);

  const std::vector<std::string>& problems() const { return problems_; }
  int64_t chain() const { return chain_; }
  int64_t first_sequence() const { return first_sequence_; }
  int64_t last_sequence() const { return last_sequence_; }
  const ChainHash& prev_hash() const { return prev_hash_; }
  const ChainHash& hash() const { return hash_; }
  const std::vector<ChainRecordView>& records() const { return records_; }

  /// The record of a sequence; null if it has none.
  const ChainRecordView* Find(int64_t sequence) const;

 private:
  Status ReadFields(const bson_t& document);
  Status ReadData();
  Status ReadRecords(std::string_view plain, uint32_t count, std::string_view hashes);
  void Compare(const char* field, int64_t got, int64_t expected);

  std::string_view id_;
  int64_t chain_ = 0;
  int64_t first_sequence_ = 0;
  int64_t last_sequence_ = 0;
  int64_t count_ = 0;
  int64_t epoch_ = 0;
  int64_t created_at_ = 0;
  ChainHash prev_hash_{};
  ChainHash hash_{};
  std::string_view data_;
  std::string plain_;
  std::vector<int64_t> also_;  // of all records; reserved before views point into it
  std::vector<ChainRecordView> records_;
  std::vector<std::string> problems_;
};

/// "<chain>:<first_seq, 19 digits>": ascending for one chain.
std::string SegmentId(int64_t chain, int64_t first_sequence);

}  // namespace braid::chains
