// What the tests of the TCP stream share: an engine, and a service that listens.
#pragma once

#include <boost/asio.hpp>
#include <memory>
#include <string>
#include <vector>

#include "services/settlement/listener.h"
#include "services/settlement/testing.h"

namespace braid::settlement {

inline std::string BigEndian(uint64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
  return out;
}

inline std::string Message(const std::string& body) { return BigEndian(body.size(), 4) + body; }

struct Reply {
  uint64_t sequence = 0;
  Outcome outcome = Outcome::kFailed;
  std::string rest;  // hash or reason
};

class EngineClient {
  using tcp = boost::asio::ip::tcp;

 public:
  /// `receive_bytes`: of the system's buffer for replies that are not read yet; 0 for the usual.
  explicit EngineClient(uint16_t port, int receive_bytes = 0) : socket_(context_, tcp::v4()) {
    if (receive_bytes > 0) socket_.set_option(tcp::socket::receive_buffer_size(receive_bytes));
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
  }
  /// False if the connection is gone.
  bool Send(const std::string& bytes) {
    boost::system::error_code error;
    boost::asio::write(socket_, boost::asio::buffer(bytes), error);
    return !error;
  }
  void End() { socket_.shutdown(tcp::socket::shutdown_send); }
  /// All up to the end of the connection.
  std::vector<Reply> Replies() {
    std::string bytes;
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(bytes), error);
    std::vector<Reply> replies;
    for (size_t at = 0; at < bytes.size();) {
      Reply& reply = replies.emplace_back();
      reply.sequence = Number(bytes, at, 8);
      reply.outcome = static_cast<Outcome>(Number(bytes, at, 1));
      const size_t size = reply.outcome <= Outcome::kDuplicate ? 32 : Number(bytes, at, 2);
      reply.rest = bytes.substr(at, size);
      at += size;
    }
    return replies;
  }

 private:
  static uint64_t Number(const std::string& bytes, size_t& at, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes.at(at++));
    return value;
  }
  boost::asio::io_context context_;
  tcp::socket socket_;
};

class ListenerStoreTest : public SettlementStoreTest {
 protected:
  void Listen(ListenerOptions options = {}) {
    if (settlement_ == nullptr) settlement_ = Open();
    auto opened = Listener::Open(*settlement_, options);
    ASSERT_OK(opened);
    listener_ = *std::move(opened);
  }
  std::unique_ptr<Settlement> settlement_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace braid::settlement
