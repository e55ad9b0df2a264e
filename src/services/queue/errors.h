// What librabbitmq and the broker say has gone wrong, as a Status: retryable if and only if a new connection may help.
#pragma once

#include <amqp.h>
#include <amqp_framing.h>

#include <string_view>

#include "braid/status.h"

namespace braid::queue {

/// A result of the library below zero: the connection is lost or was never made.
Status LibraryError(int status, std::string_view where);

/// The answer to a call: OK, a loss of the connection, or the broker's reason to close it or the channel.
Status ReplyError(const amqp_rpc_reply_t& reply, std::string_view where);

/// A method that the broker sent unasked: a close, a cancelled consumer, or something that has no place here.
Status MethodError(const amqp_method_t& method, std::string_view where);

}  // namespace braid::queue
