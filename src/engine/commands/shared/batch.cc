#include "engine/commands/shared/batch.h"

#include <limits>

#include "base/assert.h"
#include "engine/bson/number.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"

namespace braid::commands {
namespace {

constexpr size_t kUnchargedMax = 64 * 1024;

/// Moves documents from the cursor into the open array of `reply`. True if the result is at its end.
Result<bool> Fill(Call& call, OpenCursor& cursor, int64_t documents_max, bson::Builder& reply) {
  BRAID_ASSERT(cursor.stream != nullptr);
  const query::PlanCost cost(call.context, *cursor.stream);
  int64_t count = 0;
  const auto append = [&](bson::View document) {
    BRAID_ASSERT(cursor.remaining != 0);  // never more than the limit
    reply.AppendNext(document);
    ++count;
    if (cursor.remaining > 0) --cursor.remaining;
  };
  if (cursor.held != nullptr && documents_max > 0) {
    append(*cursor.held);
    cursor.held.reset();
    cursor.held_charge.Release();
  }
  bool ended = cursor.remaining == 0;
  while (!ended && count < documents_max) {
    bson::View document;
    BRAID_TRY(bool more, cursor.stream->Next(call.context, &document));
    if (!more) {
      ended = true;
    } else if (count > 0 && reply.size() + document.size() > kBatchBytesMax) {
      BRAID_CHECK_OK(cursor.held_charge.Set(&call.engine.memory, document.size()));
      cursor.held = std::make_unique<bson::Document>(document);
      break;
    } else {
      if (const size_t bytes = reply.size() + document.size(); bytes > kUnchargedMax) {
        if (call.reply_charge == nullptr) call.reply_charge = std::make_unique<MemoryCharge>(MemoryHolder::kCursors);
        BRAID_CHECK_OK(call.reply_charge->Set(&call.engine.memory, 2 * bytes));  // the buffer doubles as it grows
      }
      append(document);
      ended = cursor.remaining == 0;
    }
  }
  call.engine.counters.documents_returned.fetch_add(static_cast<uint64_t>(count), std::memory_order_relaxed);
  return ended;
}

// maxTimeMS counts the time that the server works for a cursor, not the client's pauses.
void StartTime(Call& call, const OpenCursor& cursor) {
  txn::Operation& operation = call.context.operation();
  if (cursor.time_left != kNoTimeLimit) operation.deadline = operation.started + cursor.time_left;
}

void StopTime(Call& call, OpenCursor& cursor) {
  const txn::Operation& operation = call.context.operation();
  if (operation.deadline == std::chrono::steady_clock::time_point::max()) return;
  cursor.time_left = operation.deadline - operation.clock->Now();
}

void NoteUse(Call& call, OpenCursor& cursor) {
  cursor.used_by = call.client.id;
  cursor.closed_millis = 0;
  call.client.used_cursors = true;
}

}  // namespace

Result<bson::Document> FirstBatch(Call& call, std::unique_ptr<OpenCursor> cursor, const BatchOptions& options) {
  bson::Builder reply;
  reply.OpenObject("cursor").OpenArray("firstBatch");
  BRAID_TRY(bool ended, Fill(call, *cursor, options.documents_max, reply));
  reply.Close();
  const std::string ns_shown = cursor->ns_shown.empty() ? cursor->ns.ToString() : cursor->ns_shown;
  int64_t id = 0;
  if (!ended && !options.single_batch) {
    cursor->lsid = call.lsid;
    StopTime(call, *cursor);
    cursor->txn_number = call.txn_number;
    // A transaction keeps its snapshot itself.
    if (call.context.snapshot().empty()) call.context.FixSnapshot();
    BRAID_CHECK_OK(call.engine.cursors.CheckRoom());
    cursor->stream->Rest(call.context);
    if (!call.context.is_transaction()) cursor->snapshot = call.context.TakeSnapshot();
    NoteUse(call, *cursor);
    id = call.engine.cursors.Add(std::move(cursor));
  }
  reply.Append("id", id).Append("ns", ns_shown);
  if (call.snapshot_time != 0) reply.Append("atClusterTime", bson::Timestamp{call.snapshot_time});
  reply.Close();
  return reply.Finish();
}

Result<bson::Document> NextBatch(Call& call, std::unique_ptr<OpenCursor> cursor, int64_t documents_max) {
  const int64_t id = cursor->id;
  BRAID_ASSERT(id != 0);  // it was taken from the table
  bson::Builder reply;
  reply.OpenObject("cursor").OpenArray("nextBatch");
  if (!call.context.is_transaction()) call.context.UseSnapshot(std::move(cursor->snapshot));
  StartTime(call, *cursor);
  Result<bool> ended = Fill(call, *cursor, documents_max, reply);
  if (ended.ok() && !*ended) cursor->stream->Rest(call.context);
  if (!call.context.is_transaction()) cursor->snapshot = call.context.TakeSnapshot();
  if (!ended.ok()) {
    call.engine.cursors.Forget(id);
    return ended.error();
  }
  reply.Close().Append("id", *ended ? int64_t{0} : id);
  reply.Append("ns", cursor->ns_shown.empty() ? cursor->ns.ToString() : cursor->ns_shown).Close();
  if (*ended) {
    call.engine.cursors.Forget(id);
  } else {
    StopTime(call, *cursor);
    NoteUse(call, *cursor);
    call.engine.cursors.Return(std::move(cursor));
  }
  return reply.Finish();
}

Result<int64_t> BatchSizeOf(const std::optional<bson::View>& cursor_option) {
  int64_t size = 101;
  if (!cursor_option) return size;
  ArgReader reader(*cursor_option, "cursor");
  reader.Optional("batchSize", size);
  reader.AtLeast("batchSize", size, 0);
  BRAID_CHECK_OK(reader.Finish());
  return size;
}

Result<bson::Document> ListReply(Call& call, catalog::Namespace ns, std::string ns_shown,
                                 std::vector<bson::Document> documents,
                                 const std::optional<bson::View>& cursor_option) {
  BRAID_TRY(int64_t batch_size, BatchSizeOf(cursor_option));
  if (!cursor_option || !cursor_option->Has("batchSize")) batch_size = std::numeric_limits<int64_t>::max();
  auto cursor = std::make_unique<OpenCursor>();
  cursor->ns = std::move(ns);
  cursor->ns_shown = std::move(ns_shown);
  size_t bytes = 0;
  for (const bson::Document& document : documents) bytes += document.bytes().size();
  if (bytes > kUnchargedMax) BRAID_CHECK_OK(cursor->list_charge.Set(&call.engine.memory, bytes));
  cursor->stream = std::make_unique<ListStream>(std::move(documents));
  return FirstBatch(call, std::move(cursor), {.documents_max = batch_size});
}

}  // namespace braid::commands
