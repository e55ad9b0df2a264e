// Listen: opens the sockets that a server accepts on.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "braid/status.h"

namespace braid::wire {

using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

/// The IP addresses that `text` means; "localhost" is both loopbacks. kBadValue if it is not an address.
Result<std::vector<boost::asio::ip::address>> AddressesOf(const std::string& text);

/// One listening socket per address, all on the same port (0: a free one). kHostUnreachable says which address failed.
Result<std::vector<Acceptor>> Listen(const std::vector<std::string>& addresses, uint16_t port,
                                     boost::asio::io_context& context);

}  // namespace braid::wire
