// The address of a broker and the account to use there, parsed from the URI that users give.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::queue {

/// amqp://user:password@host:port/vhost, or amqps:// for TLS. User, password and vhost may be percent-encoded.
struct Address {
  bool tls = false;
  std::string host;
  uint16_t port = 5672;  // 5671 with TLS
  std::string user = "guest";
  std::string password = "guest";
  std::string vhost = "/";  // also if the URI ends with the host or with one slash
  std::string
      ca_file;  // amqps only, "?cacertfile=": the authorities for the broker's certificate; empty: those of the system

  /// For people and logs: without the password.
  std::string ToString() const;
};

/// The address in `uri`, or what is wrong with it. The message never holds the password.
Result<Address> ParseAddress(std::string_view uri);

}  // namespace braid::queue
