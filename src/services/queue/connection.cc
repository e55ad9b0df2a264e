#include "services/queue/connection.h"

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <openssl/ssl.h>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::queue {
namespace {

std::string_view Text(const amqp_bytes_t& bytes) { return {static_cast<const char*>(bytes.bytes), bytes.len}; }

Code CodeOf(uint16_t reply_code) {
  switch (reply_code) {
    case AMQP_ACCESS_REFUSED: return Code::kUnauthorized;
    case AMQP_NOT_FOUND: return Code::kNamespaceNotFound;
    case AMQP_PRECONDITION_FAILED:  // the queue exists with other properties
      return Code::kInvalidOptions;
    case AMQP_CONNECTION_FORCED:  // the broker goes down
    case AMQP_INTERNAL_ERROR:     // a vhost that is not up yet, right after a start
      return Code::kHostUnreachable;
    default: return Code::kOperationFailed;
  }
}

constexpr timeval kConnectTimeout = {.tv_sec = 5, .tv_usec = 0};
constexpr timeval kHandshakeTimeout = {.tv_sec = 5, .tv_usec = 0};
constexpr timeval kCallTimeout = {.tv_sec = 30, .tv_usec = 0};
constexpr timeval kFarewellTimeout = {.tv_sec = 1, .tv_usec = 0};
constexpr int kFrameBytes = 131072;  // what RabbitMQ offers

amqp_socket_t* TlsSocket(amqp_connection_state_t state, const Address& address, Status& status,
                         std::string_view where) {
  amqp_socket_t* socket = amqp_ssl_socket_new(state);
  if (socket == nullptr) return nullptr;
  amqp_ssl_socket_set_verify_peer(socket, 1);
  amqp_ssl_socket_set_verify_hostname(socket, 1);
  if (address.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(static_cast<SSL_CTX*>(amqp_ssl_socket_get_context(socket)));
  } else if (amqp_ssl_socket_set_cacert(socket, address.ca_file.c_str()) != AMQP_STATUS_OK) {
    status = Status(Code::kInvalidOptions, StrCat(where, ": cannot use the certificates in ", address.ca_file));
  }
  return socket;
}

}  // namespace

Status LibraryError(int status, std::string_view where) {
  const std::string message = StrCat(where, ": ", amqp_error_string2(status));
  switch (status) {
    case AMQP_STATUS_HOSTNAME_RESOLUTION_FAILED: return Status(Code::kHostNotFound, message);
    case AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED:
    case AMQP_STATUS_SSL_PEER_VERIFY_FAILED: return Status(Code::kAuthenticationFailed, message);
    case AMQP_STATUS_INCOMPATIBLE_AMQP_VERSION:
    case AMQP_STATUS_BROKER_UNSUPPORTED_SASL_METHOD: return Status(Code::kProtocolError, message);
    default: return Status(Code::kHostUnreachable, message);
  }
}

Status ReplyError(const amqp_rpc_reply_t& reply, std::string_view where) {
  switch (reply.reply_type) {
    case AMQP_RESPONSE_NORMAL: return {};
    case AMQP_RESPONSE_LIBRARY_EXCEPTION: return LibraryError(reply.library_error, where);
    case AMQP_RESPONSE_SERVER_EXCEPTION: return MethodError(reply.reply, where);
    case AMQP_RESPONSE_NONE: break;
  }
  return Status(Code::kHostUnreachable, StrCat(where, ": the connection ended without an answer"));
}

Status MethodError(const amqp_method_t& method, std::string_view where) {
  switch (method.id) {
    case AMQP_CONNECTION_CLOSE_METHOD: {
      const auto& close = *static_cast<const amqp_connection_close_t*>(method.decoded);
      return Status(CodeOf(close.reply_code), StrCat(where, ": the broker closed the connection: ", close.reply_code,
                                                     " ", Text(close.reply_text)));
    }
    case AMQP_CHANNEL_CLOSE_METHOD: {
      const auto& close = *static_cast<const amqp_channel_close_t*>(method.decoded);
      return Status(CodeOf(close.reply_code),
                    StrCat(where, ": the broker refused: ", close.reply_code, " ", Text(close.reply_text)));
    }
    case AMQP_BASIC_CANCEL_METHOD:
      return Status(Code::kNamespaceNotFound,
                    StrCat(where, ": the broker ended the subscription: the queue was deleted"));
    default: return Status(Code::kProtocolError, StrCat(where, ": unexpected method ", amqp_method_name(method.id)));
  }
}

void Connection::Destroy::operator()(amqp_connection_state_t_* state) const { amqp_destroy_connection(state); }

Connection::Connection() : state_(amqp_new_connection()) { BRAID_ASSERT(state_ != nullptr); }

Connection::~Connection() {
  if (!alive_) return;
  // Without this the broker logs an error. Its answer does not matter.
  amqp_set_rpc_timeout(state_.get(), &kFarewellTimeout);
  amqp_connection_close(state_.get(), AMQP_REPLY_SUCCESS);
}

Status Connection::OpenSocket(const Address& address, std::string_view where) {
  Status status;
  amqp_socket_t* socket =  // belongs to state_
      address.tls ? TlsSocket(state_.get(), address, status, where) : amqp_tcp_socket_new(state_.get());
  BRAID_CHECK_OK(status);
  if (socket == nullptr) return LibraryError(AMQP_STATUS_NO_MEMORY, where);
  const int opened = amqp_socket_open_noblock(socket, address.host.c_str(), address.port, &kConnectTimeout);
  return opened == AMQP_STATUS_OK ? Status() : LibraryError(opened, where);
}

Status Connection::LogIn(const Address& address, int heartbeat_seconds, std::string_view where) {
  // Without this capability a broker does not tell its consumers that their queue was deleted.
  amqp_table_entry_t notify = {.key = amqp_cstring_bytes("consumer_cancel_notify")};
  notify.value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value = {.boolean = 1}};
  amqp_table_entry_t capabilities = {.key = amqp_cstring_bytes("capabilities")};
  capabilities.value = {.kind = AMQP_FIELD_KIND_TABLE, .value = {.table = {.num_entries = 1, .entries = &notify}}};
  const amqp_table_t properties = {.num_entries = 1, .entries = &capabilities};
  const amqp_rpc_reply_t reply =
      amqp_login_with_properties(state_.get(), address.vhost.c_str(), 0, kFrameBytes, heartbeat_seconds, &properties,
                                 AMQP_SASL_METHOD_PLAIN, address.user.c_str(), address.password.c_str());
  return ReplyError(reply, where);
}

Result<std::unique_ptr<Connection>> Connection::Open(const Address& address, std::chrono::seconds heartbeat) {
  std::unique_ptr<Connection> connection(new Connection());
  const std::string where = address.ToString();
  amqp_connection_state_t state = connection->state();
  amqp_set_handshake_timeout(state, &kHandshakeTimeout);
  amqp_set_rpc_timeout(state, &kCallTimeout);
  BRAID_CHECK_OK(connection->OpenSocket(address, where));
  BRAID_CHECK_OK(connection->LogIn(address, static_cast<int>(heartbeat.count()), where));
  amqp_channel_open(state, kChannel);
  BRAID_CHECK_OK(ReplyError(amqp_get_rpc_reply(state), where));
  connection->alive_ = true;
  return connection;
}

Status Connection::DeclareQueue(const std::string& queue, std::string_view where) {
  amqp_queue_declare(state_.get(), kChannel, amqp_cstring_bytes(queue.c_str()), /*passive=*/0, /*durable=*/1,
                     /*exclusive=*/0, /*auto_delete=*/0, amqp_empty_table);
  return ReplyError(amqp_get_rpc_reply(state_.get()), where);
}

}  // namespace braid::queue
