#include "embedded/engine_clients.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "engine/wire/exchange.h"
#include "engine/wire/input.h"

namespace braid::embedded {
namespace {

// libmongoc identifies its own streams by their type; this is a number that none of them has.
constexpr int kStreamType = 1000;
constexpr size_t kKeptBytesMax = 64 * 1024;  // of an answered reply's memory

// A libmongoc stream whose other end is the engine in this process. A whole request that is written is answered at
// once, on the writer's thread, and its reply waits to be read. libmongoc does not allocate it, but destroys it, and
// calls it through the function pointers of its first member.
class Stream {
 public:
  Stream(commands::Engine& engine, wire::Handler& handler)
      : engine_(engine), handler_(handler), exchange_(handler), client_(handler.Connect("embedded")) {
    base_.type = kStreamType;
    base_.destroy = [](mongoc_stream_t* stream) { delete Of(stream); };
    base_.failed = base_.destroy;
    base_.close = [](mongoc_stream_t* stream) {
      Of(stream)->closed_ = true;
      return 0;
    };
    base_.flush = [](mongoc_stream_t*) { return 0; };
    base_.writev = [](mongoc_stream_t* stream, mongoc_iovec_t* parts, size_t count, int32_t) {
      return Of(stream)->Write(parts, count);
    };
    base_.readv = [](mongoc_stream_t* stream, mongoc_iovec_t* parts, size_t count, size_t min_bytes, int32_t) {
      return Of(stream)->Read(parts, count, min_bytes);
    };
    base_.setsockopt = [](mongoc_stream_t*, int, int, void*, mongoc_socklen_t) { return 0; };
    base_.check_closed = [](mongoc_stream_t* stream) { return Of(stream)->closed_; };
    base_.poll = Poll;
    base_.timed_out = [](mongoc_stream_t*) { return false; };
    base_.should_retry = [](mongoc_stream_t*) { return false; };
  }
  ~Stream() { handler_.Disconnect(client_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  mongoc_stream_t* base() { return &base_; }

 private:
  static Stream* Of(mongoc_stream_t* stream) { return reinterpret_cast<Stream*>(stream); }

  // Nothing ever has to be waited for.
  static ssize_t Poll(mongoc_stream_poll_t* streams, size_t count, int32_t) {
    for (size_t i = 0; i < count; ++i) {
      const bool readable = Of(streams[i].stream)->read_ < Of(streams[i].stream)->replies_.size();
      streams[i].revents = streams[i].events & (POLLOUT | (readable ? POLLIN : 0));
    }
    return static_cast<ssize_t>(count);
  }

  ssize_t Write(const mongoc_iovec_t* parts, size_t count) {
    if (closed_) return Closed();
    ssize_t written = 0;
    for (size_t i = 0; i < count; ++i) {
      Take({static_cast<const char*>(parts[i].iov_base), parts[i].iov_len});
      written += static_cast<ssize_t>(parts[i].iov_len);
    }
    while (!closed_) {
      const Result<std::string_view> next = input_.Next();
      if (!next.ok()) {
        log::info("an embedded client was closed: {}", next.error().message());
        closed_ = true;
        return Closed();
      }
      if (next->empty()) break;
      Answer(*next);
      input_.Consume(next->size());
    }
    return written;
  }

  void Take(std::string_view bytes) {
    while (!bytes.empty()) {
      input_.MakeRoom();
      const size_t taken = std::min(bytes.size(), input_.free_size());
      std::memcpy(input_.free_begin(), bytes.data(), taken);
      input_.Arrived(taken);
      bytes.remove_prefix(taken);
    }
  }

  void Answer(std::string_view message) {
    exchange_.Read(message);
    exchange_.Run(client_);
    if (const uint64_t position = exchange_.durable_at(); position > 0) {
      if (const Status status = engine_.WaitDurable(position); !status.ok()) exchange_.Fail(status);
    }
    if (exchange_.Frame()) {
      for (const std::string_view part : exchange_.frame().parts()) replies_.append(part);
    }
    closed_ = exchange_.close();
    exchange_.Finish();
  }

  ssize_t Read(mongoc_iovec_t* parts, size_t count, size_t min_bytes) {
    if (replies_.size() - read_ < min_bytes) return Closed();  // the rest will not come
    ssize_t copied = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t part = std::min(parts[i].iov_len, replies_.size() - read_);
      std::memcpy(parts[i].iov_base, replies_.data() + read_, part);
      read_ += part;
      copied += static_cast<ssize_t>(part);
    }
    if (read_ == replies_.size()) {
      replies_.clear();
      if (replies_.capacity() > kKeptBytesMax) replies_.shrink_to_fit();
      read_ = 0;
    }
    return copied;
  }

  static ssize_t Closed() {
    errno = ECONNRESET;
    return -1;
  }

  mongoc_stream_t base_{};  // first: libmongoc's pointer is ours
  commands::Engine& engine_;
  wire::Handler& handler_;
  wire::Exchange exchange_;
  wire::Input input_;
  commands::Client client_;
  std::string replies_;
  size_t read_ = 0;  // of replies_
  bool closed_ = false;
};

}  // namespace

EngineClients::EngineClients(commands::Engine& engine, wire::Handler& handler) : engine_(engine), handler_(handler) {
  client::InitOnce();
}

mongoc_client_t* EngineClients::Pop() {
  {
    const MutexLock lock(mu_);
    ++lent_;
    if (!idle_.empty()) {
      mongoc_client_t* client = idle_.back().release();
      idle_.pop_back();
      return client;
    }
  }
  // Clients of a pool cannot be given a stream of our own, so each is made alone. The host is never looked up.
  mongoc_client_t* client = mongoc_client_new("mongodb://embedded/?appName=embedded");
  BRAID_ASSERT(client != nullptr);
  mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
  const mongoc_stream_initiator_t connect = [](const mongoc_uri_t*, const mongoc_host_list_t*, void* clients,
                                               bson_error_t*) {
    auto* self = static_cast<EngineClients*>(clients);
    return (new Stream(self->engine_, self->handler_))->base();
  };
  mongoc_client_set_stream_initiator(client, connect, this);
  return client;
}

void EngineClients::Push(mongoc_client_t* client) {
  const MutexLock lock(mu_);
  --lent_;
  idle_.emplace_back(client);
}

size_t EngineClients::lent() const {
  const MutexLock lock(mu_);
  return lent_;
}

void EngineClients::Clear() {
  const MutexLock lock(mu_);
  idle_.clear();
}

}  // namespace braid::embedded
