#include "engine/wire/listen.h"

#include <boost/asio/ip/v6_only.hpp>

#include "base/strings.h"
#include "engine/wire/server.h"

namespace braid::wire {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

Result<Acceptor> ListenOn(const tcp::endpoint& endpoint, asio::io_context& context) {
  boost::system::error_code error;
  Acceptor acceptor(context);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return acceptor;
  std::string advice;
  if (error == asio::error::address_in_use) {
    advice = "; stop the program that uses it, or choose another port with --port (0 takes a free one)";
  } else if (error == asio::error::access_denied) {
    advice = "; choose a port above 1023 with --port";
  }
  return Status(Code::kHostUnreachable, StrCat("cannot listen on ", endpoint.address().to_string(), " port ",
                                               endpoint.port(), ": ", error.message(), advice));
}

}  // namespace

Result<std::vector<asio::ip::address>> AddressesOf(const std::string& text) {
  if (text == "localhost") {
    return std::vector<asio::ip::address>{asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  }
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(text, error);
  if (error) {
    return Status(Code::kBadValue,
                  StrCat("'", text, "' is not an address to listen on: give 127.0.0.1, ::1 or localhost"));
  }
  return std::vector<asio::ip::address>{address};
}

Result<std::vector<Acceptor>> Listen(const std::vector<std::string>& addresses, uint16_t port,
                                     asio::io_context& context) {
  std::vector<Acceptor> acceptors;
  for (const std::string& text : addresses) {
    BRAID_TRY(const std::vector<asio::ip::address> all, AddressesOf(text));
    for (const asio::ip::address& address : all) {
      Result<Acceptor> acceptor = ListenOn(tcp::endpoint(address, port), context);
      // A machine without IPv6 has no second loopback; "localhost" is then the first alone.
      if (!acceptor.ok() && address != all.front()) continue;
      BRAID_CHECK_OK(acceptor);
      port = acceptor->local_endpoint().port();
      acceptors.push_back(*std::move(acceptor));
    }
  }
  return acceptors;
}

Status ServerOptions::Validate() const {
  if (addresses.empty()) return Status(Code::kBadValue, "no address to listen on: give 127.0.0.1, ::1 or localhost");
  for (const std::string& text : addresses) {
    BRAID_TRY(const std::vector<asio::ip::address> all, AddressesOf(text));
    for (const asio::ip::address& address : all) {
      if (address.is_loopback()) continue;
      return Status(Code::kBadValue,
                    StrCat("refusing to listen on ", text,
                           ": there is no authentication yet, so anybody who can reach the port could read and change "
                           "everything; listen on 127.0.0.1 and use a tunnel (ssh -L) to reach it from elsewhere"));
    }
  }
  if (connections_max == 0) return Status(Code::kBadValue, "the greatest number of connections must be at least 1");
  if (threads_max == 0) return Status(Code::kBadValue, "the greatest number of threads must be at least 1");
  return {};
}

}  // namespace braid::wire
