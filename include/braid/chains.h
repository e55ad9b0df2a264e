// Chains: append-only SHA-256 hash chains over any store, one chain per symbol, written in parallel (C1–C5, C7, C9,
// C10).
//
//   BRAID_TRY(const auto chains, Chains::Open(*store, {.database = "example"}));
//   const std::vector<ChainRecord> records = {{.chain = 7, .sequence = 1, .payload = "first"},
//                                             {.chain = 7, .sequence = 2, .payload = "second"}};
//   BRAID_TRY(const std::vector<Appended> appended, chains->Append(records));  // durable; one answer per record
//   BRAID_TRY(const VerifyReport report, chains->Verify({}));                  // reads all and names what differs
//
// ChainWriters appends records as they come, by several threads that commit them in batches.
//
// A record belongs to a chain and carries a sequence and a payload that is opaque here. Sequences are global: one
// source numbers all records, and a chain sees an increasing subset of the numbers. So a chain cannot tell from a
// number alone that one before it is missing. What it can tell, and refuses (kChainBroken):
//   gap   a record newer than the head that names a prev_hash other than the head's hash;
//   fork  a record with a sequence at or below the head's that is not the record stored under that sequence;
//   lie   a record that names a hash other than the one its contents have.
// The hashes of a record that names none are computed. A record that is already stored (same sequence, same contents)
// is acknowledged again.
//
// Hash of a record: SHA-256 over these bytes; every integer is big-endian, signed ones are two's complement.
//      0  16  "braid.chain.v1" and two zero bytes: domain and version
//     16   8  chain
//     24   8  sequence
//     32  32  prev_hash: the hash of the chain's record before; of the first, 32 zero bytes (the chain's number is in
//             the bytes already, so two chains cannot begin alike)
//     64   4  k: how many other chains carry the same record, 0 for most
//     68   4  n: bytes of payload
//     72  8k  the other chains, ascending
//  72+8k   n  payload
// Fixed widths and lengths before contents: no two records have the same bytes.
//
// In the store. Records of one chain that were committed together are one document, a segment, of the log:
//   {_id: "<chain>:<first_seq, 19 digits>", symbol_id, first_seq, last_seq, count, prev_hash, hash, epoch, created_at,
//   data}
// with an index on {symbol_id: 1, last_seq: 1}; prev_hash is that of the first record, hash that of the last. data is
//      0   1  2: version of this format
//      1   1  0: the records follow as they are; 1: as one Zstandard frame
//      2   2  zero
//      4   4  count
//      8   4  bytes of the records before compression
//     12   8  symbol_id
//     20   8  epoch
//     28   8  created_at, milliseconds since 1970
//     36   8  of compressed records: XXH3 of the frame, 64 bits without a seed; else zero
//     44  32  for each record: its hash
//             the records: for each sequence 8, k 4, n 4, the other chains 8k, payload n
// The collection <log>_heads has one document per chain: {_id: <chain>, seq, hash, records, epoch, tree: {records,
// peaks}, halted: {at, why, broken, changes, awaits: [{seq, why, held_by}]} if halted}. A commit is one transaction:
// each chain's head is updated on the condition that it is as this writer last saw it, and the segments are inserted.
// <log>_tree and the field tree are explained in braid/chain_tree.h, <log>_leases and <log>_repairs at AcquireLease()
// and Repair().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/chain_tree.h"
#include "braid/clients.h"
#include "braid/clock.h"
#include "braid/status.h"

namespace braid {

namespace chains {
struct Parts;
}  // namespace chains

/// A record to append.
struct ChainRecord {
  int64_t chain = 0;
  int64_t sequence = 0;  ///< 1 to 2^63 - 2
  std::string payload;   ///< at most Chains::kPayloadBytesMax
  /// Further chains that carry the record, in any order: it is appended to all of them or to none (C9). Each has its
  /// own hash of it.
  std::vector<int64_t> also;
  /// If given, must equal the hashes computed from the head and the contents. They are those in `chain`, not in the
  /// chains of `also`.
  std::optional<ChainHash> prev_hash;
  std::optional<ChainHash> hash;
  /// If not empty, the reason why the caller refuses the record: it is not stored, and its chains accept no later
  /// record until a record with its sequence is appended or Repair() gives it up. The answer is kBadValue.
  std::string refused;
};

/// The result for one appended record.
struct Appended {
  /// kChainBroken: the record does not follow the head; the message says what was expected and what came, and the chain
  /// is halted. kChainHalted: the chain was halted before; if the record belongs to several chains, all of them await
  /// it now. kLeaseLost: another process holds the chain's lease now (a record that is already stored needs no lease).
  /// kBadValue: the record is not valid; no chain is halted.
  Status status;
  bool duplicate = false;  ///< was stored already; hash is the stored one
  ChainHash hash{};        ///< of the record in `chain`, if status is OK
};

/// A stored record as it is read. Valid during the call only.
struct ChainRecordView {
  int64_t chain = 0;
  int64_t sequence = 0;
  ChainHash prev_hash{};
  ChainHash hash{};
  std::span<const int64_t> also;
  std::string_view payload;
  int64_t created_at_ms = 0;  ///< when it was committed; not part of the hash
};

/// A record that was held back: its chains accept nothing that comes after it until it is appended or given up.
struct AwaitedRecord {
  int64_t sequence = 0;
  std::string why;
  /// The chain that must be repaired first, if the record was held back because of that chain.
  std::optional<int64_t> held_by;
  bool operator==(const AwaitedRecord&) const = default;
};

/// The newest record of a chain.
struct ChainHead {
  int64_t chain = 0;
  int64_t sequence = 0;
  ChainHash hash{};
  int64_t records = 0;  ///< how many the chain has
  int64_t epoch = 0;    ///< the fencing token of the latest lease; 0 if there never was one
  std::string halted;   ///< why the chain is halted, or that its head is damaged; empty if neither
  /// Whether only Repair() makes a halted chain go on. Otherwise it goes on when the awaited records are appended.
  bool broken = false;
  std::vector<AwaitedRecord> awaits;  ///< ascending
  int64_t halt_changes = 0;           ///< how often the halt was changed since it began
  /// Empty if records were appended by a program version without trees: RepairAction::kTreeFromLog builds the tree.
  std::optional<ChainTree> tree = ChainTree();
};

/// The hash of a record as the comment above defines it. `also` must be ascending.
ChainHash HashChainRecord(const ChainRecordView& record);

struct ChainsOptions {
  std::string database;  ///< where the log and its other collections are
  /// The log's collection; the names of the others begin with it.
  std::string log = "engine_output_log";
  /// Creates the collections and the index if absent. If false, Open() writes nothing and returns kNamespaceNotFound
  /// when there is no such log.
  bool create = true;
  /// A unique name of the process that appends. If empty, no leases are used, and processes that append to the same
  /// chain take turns by retrying. Otherwise every append needs the chain's lease (C10).
  std::string owner;
  /// How long a lease lasts without renewal. Default 10 s, at least 1 ms.
  std::chrono::milliseconds lease_ttl{10'000};
  /// Whether one source numbers the records of all chains, so that no two records may have the same sequence. A second
  /// append of a sequence is refused with kChainBroken if this object appended the first one recently; Verify() finds
  /// all duplicates. Default false.
  bool unique_sequences = false;
  /// Zstandard's level for segments, -50..19; negative is faster, 0 stores records as they are. Default -1.
  int compression_level = -1;
  /// The clock for created_at, leases and repairs; null for the machine's clock. Must outlive the Chains.
  const Clock* clock = nullptr;
  Status Validate() const;  ///< OK, or the first field out of range, its value and its range.
};

struct VerifyOptions {
  /// Chains verified at the same time. Default 0: one per core.
  uint32_t threads = 0;
  /// Only records from this sequence on; earlier ones are trusted.
  int64_t from_sequence = 1;
  /// Only these chains; empty for all.
  std::vector<int64_t> chains;
  /// The most damages that are listed; further ones are only counted. Default 1000.
  uint32_t damage_max = 1000;
  /// Called now and then, on any of the threads, with the records verified so far. May be empty.
  std::function<void(int64_t records)> on_progress;
};

struct ChainDamage {
  int64_t chain = 0;
  int64_t sequence = 0;  ///< of the record, or the first of its segment if the records cannot be read
  std::string what;      ///< what differs: expected and got
};

struct VerifyReport {
  bool ok() const { return damaged == 0; }
  int64_t chains = 0;
  int64_t records = 0;
  int64_t payload_bytes = 0;
  int64_t damaged = 0;              ///< how much was found
  std::vector<ChainDamage> damage;  ///< ordered by chain and place
};

enum class RepairAction {
  /// Continues from the head: the refused record stays refused, and records that follow the head are accepted, up to
  /// the first one that the chain awaits. kIllegalOperation if the chain is halted for awaited records alone.
  kResume,
  /// The same, and the records that the chain awaits are given up. A record of several chains must be given up in each
  /// of them.
  kSkip,
  /// Sets the head to the newest record of the log, after a head was lost or changed, and continues. The rest of the
  /// chain must verify. kConflictingOperationInProgress if the chain is written to meanwhile. The tree is rebuilt, too.
  kHeadFromLog,
  /// Rebuilds the chain's tree from the log, whether the chain is halted or not; nothing else is changed. The whole
  /// chain must verify. For chains that were written by versions without trees, and after a node was lost or changed.
  kTreeFromLog,
};

struct RepairOptions {
  RepairAction action = RepairAction::kResume;
  std::string by;      ///< the person or program that decided it; needed
  std::string reason;  ///< needed
};

struct LeaseInfo {
  int64_t chain = 0;
  std::string owner;
  int64_t epoch = 0;
  int64_t expires_at_ms = 0;
};

/// The chains of one store. Any thread; calls for one chain take turns. The Clients must outlive it. Nothing has to be
/// closed: what Append() acknowledged is durable, and leases that are not released end by themselves.
/// Invariants: (1) a record is stored only if its prev_hash is the hash of the chain's record before it; (2) Append()
/// reports OK only once the record is durable; (3) a chain whose record broke it accepts nothing until Repair(); (4) a
/// chain accepts nothing past a record that was held back until that is appended or given up.
class Chains {
 public:
  static constexpr size_t kPayloadBytesMax = 8u << 20;
  static constexpr size_t kBatchBytesMax = 64u << 20;

  /// kBadValue if the options are not valid, kNamespaceNotFound if there is no log and none may be created.
  static Result<std::unique_ptr<Chains>> Open(Clients& clients, const ChainsOptions& options);
  ~Chains();
  Chains(const Chains&) = delete;
  Chains& operator=(const Chains&) = delete;

  /// Appends the records in their order with one durable commit, and returns one result per record. An error means that
  /// the store failed: it is not known whether anything was stored, and repeating the call is safe. At most
  /// kBatchBytesMax of payload.
  Result<std::vector<Appended>> Append(std::span<const ChainRecord> records);

  /// Every chain that has records or is halted, ascending, as the store has it now.
  Result<std::vector<ChainHead>> Heads();

  /// Reads everything and reports every difference (C5). An error means that the store failed.
  Result<VerifyReport> Verify(const VerifyOptions& options);

  /// Calls `each` for every record from a sequence on, in the order of sequences, up to each chain's newest record at
  /// the time of the call. A record of several chains is given once, as stored in its smallest chain. The format is
  /// checked, the hashes are not: Verify() does that. Memory: a few segments per chain. An error of `each` ends the
  /// walk; kRecordDamaged if a segment cannot be read.
  Status Merge(int64_t from_sequence, const std::function<Status(const ChainRecordView&)>& each);

  /// Calls `each` for the records of one chain from a sequence on, in order, up to its newest record at the time of the
  /// call, until `each` returns false. Checked as by Merge().
  Status Read(int64_t chain, int64_t from_sequence, const std::function<Result<bool>(const ChainRecordView&)>& each);

  /// A record of a chain, and its path in the tree over the first `records` records; the caller checks that the path
  /// leads to the expected root. The cost hardly grows with the length of the chain. kBadValue if the record is not one
  /// of them, kRecordDamaged if a segment or a node is missing or cannot be read.
  Result<ChainPlace> PlaceOf(int64_t chain, int64_t sequence, int64_t records);

  /// The root of the tree over the first `records` records, from the stored nodes. Errors as of PlaceOf().
  Result<ChainHash> RootAt(int64_t chain, int64_t records);

  /// Makes a halted chain accept records again. <log>_repairs keeps {symbol_id, at, by, reason, action, before, after,
  /// halted, skipped: [seq] if records were given up}.
  Status Repair(int64_t chain, const RepairOptions& options);

  /// Takes the lease of a chain that is free, expired or already ours, and gives its epoch, the fencing token. The
  /// chain's head gets the epoch in the same transaction, so that from then on no append under an older epoch can
  /// commit, however long its process was stopped. kConflictingOperationInProgress if another owner has it.
  /// <log>_leases: {_id: <chain>, owner, epoch, expires_at}.
  Result<int64_t> AcquireLease(int64_t chain);
  /// Renews every lease that this object holds and returns the chains whose lease it lost: appends to them fail with
  /// kLeaseLost until the lease is acquired again.
  Result<std::vector<int64_t>> RenewLeases();
  /// Releases the lease, so that another owner can take it at once. OK if it is not held.
  Status ReleaseLease(int64_t chain);
  /// All leases of the store, of all owners.
  Result<std::vector<LeaseInfo>> Leases();

  const ChainsOptions& options() const;
  Clients& clients() const;

 private:
  explicit Chains(std::unique_ptr<chains::Parts> parts);
  std::unique_ptr<chains::Parts> parts_;
};

struct ChainWritersOptions {
  /// Number of threads that the chains are spread over. Default 8, 1..256; Resize() changes it while running.
  uint32_t writers = 8;
  /// Records in one durable commit: more is faster, but acknowledged later. Default 500, 1..10000.
  uint32_t batch_records_max = 500;
  /// How long a record waits for a batch to fill. Default 2 ms, 0..1000.
  std::chrono::milliseconds batch_delay{2};
  /// Records waiting at one writer before Submit() waits or is refused. Default 10000, 1..1000000.
  uint32_t queue_records_max = 10'000;
  /// The wait between attempts while the store fails: it doubles from the first value up to the second. Default 10 ms,
  /// 1 s.
  std::chrono::milliseconds retry_first{10};
  std::chrono::milliseconds retry_most{1000};
  /// A chain with at least this share of the records of an interval gets a dedicated writer, and loses it below half
  /// the share. Default 0.5; a value over 1 disables this.
  double hot_share = 0.5;
  /// The interval; also how often leases are renewed. Default 1 s, at least 10 ms.
  std::chrono::milliseconds interval{1000};
  Status Validate() const;
};

struct ChainWriterFigures {
  int id = 0;
  std::optional<int64_t> own_chain;  ///< the chain it writes alone, if any
  size_t chains = 0;
  size_t queue_depth = 0;
  int64_t records = 0;  ///< acknowledged so far
  int64_t commits = 0;
  int64_t retries = 0;       ///< failed tries
  double batch_records = 0;  ///< mean of the last interval, as are the next three
  double records_per_second = 0;
  double commit_mean_ms = 0;
  double commit_most_ms = 0;
  std::string last_error;  ///< of the store, while it fails
};

/// Threads that append records as they come. Records of one chain keep the order of their Submit() calls: each chain
/// has one queue, and at most one batch of it is being committed at any time, whichever writer has the chain. Any
/// thread.
class ChainWriters {
 public:
  enum class WhenFull { kWait, kRefuse };
  using Done = std::function<void(const Appended&)>;

  /// The Chains must outlive it.
  static Result<std::unique_ptr<ChainWriters>> Start(Chains& chains, const ChainWritersOptions& options);
  /// Calls Stop() and discards its error.
  virtual ~ChainWriters() = default;
  ChainWriters(const ChainWriters&) = delete;
  ChainWriters& operator=(const ChainWriters&) = delete;

  /// Queues a record. `done` is called once, on a writer's thread, when the record is durable or refused; it must not
  /// wait for another record. An error means that it was not queued: kQueueFull if there is no room,
  /// kShutdownInProgress after Stop().
  virtual Status Submit(ChainRecord record, Done done, WhenFull when_full = WhenFull::kWait) = 0;
  /// The same with a future in place of the callback.
  Result<std::future<Appended>> Submit(ChainRecord record, WhenFull when_full = WhenFull::kWait);

  /// Returns when nothing is queued or being committed.
  virtual void Flush() = 0;

  /// Commits the queued records and ends the threads. While the store fails, it retries for `patience` more; records
  /// that are still queued then get the store's error. OK if every record was committed or refused by its chain.
  virtual Status Stop(std::chrono::milliseconds patience = std::chrono::milliseconds(30'000)) = 0;

  /// Changes the number of writers and redistributes the chains; those with a dedicated writer keep it.
  virtual Status Resize(uint32_t writers) = 0;

  /// Gives a chain a dedicated writer, or takes it away. The batch being committed is finished first, and the queued
  /// records move along (C7). A dedicated writer that was given by this call stays until it is taken away by this call.
  /// OK if nothing has to change.
  virtual Status GiveOwnWriter(int64_t chain) = 0;
  virtual Status TakeBack(int64_t chain) = 0;

  virtual std::vector<ChainWriterFigures> Figures() const = 0;

  /// OK until the store has failed permanently (Clients::MayRecover), or for longer than Stop() waited: then the
  /// reason, which is also the answer to every record submitted afterwards.
  virtual Status failure() const = 0;

 protected:
  ChainWriters() = default;
};

}  // namespace braid
