#include "services/queue/errors.h"

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

}  // namespace braid::queue
