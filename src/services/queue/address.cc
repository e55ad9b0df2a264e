#include "services/queue/address.h"

#include <charconv>

#include "base/strings.h"

namespace braid::queue {
namespace {

Status Malformed(std::string_view what) {
  return Status(Code::kFailedToParse,
                StrCat("broker address: ", what, "; expected amqp://user:password@host:port/vhost"));
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> Decode(std::string_view text, std::string_view part) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    // A zero byte would end the text early in the library underneath, and so name something else.
    if (high < 0 || low < 0 || high + low == 0) return Malformed(StrCat("bad percent-encoding in the ", part));
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

/// Removes and returns the part of `rest` before the first of `stops`; the stop character stays.
std::string_view TakeUntil(std::string_view& rest, std::string_view stops) {
  const std::string_view taken = rest.substr(0, rest.find_first_of(stops));
  rest.remove_prefix(taken.size());
  return taken;
}

Status ParseUser(std::string_view text, Address& address) {
  const std::string_view user = TakeUntil(text, ":");
  BRAID_TRY(address.user, Decode(user, "user"));
  if (address.user.empty()) return Malformed("the user is empty");
  if (text.empty()) return Malformed("a user without a password");
  BRAID_TRY(address.password, Decode(text.substr(1), "password"));
  return {};
}

Status ParseHost(std::string_view text, Address& address) {
  if (text.starts_with('[')) {  // an IPv6 address, whose colons are not the port's
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return Malformed("'[' without ']' in the host");
    address.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (!text.empty() && text[0] != ':') return Malformed("something else than a port after ']'");
  } else {
    address.host = TakeUntil(text, ":");
  }
  if (address.host.empty()) return Malformed("no host");
  if (text.empty()) return {};
  text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address.port);
  if (error != std::errc() || end != text.data() + text.size() || address.port == 0) {
    return Malformed(StrCat("the port '", text, "' is not a number from 1 to 65535"));
  }
  return {};
}

Status ParseQuery(std::string_view query, Address& address) {
  for (const std::string_view option : Split(query, '&')) {
    const std::string_view name = option.substr(0, option.find('='));
    if (name != "cacertfile") return Malformed(StrCat("unknown option '", name, "'"));
    if (!address.tls) return Malformed("cacertfile is for amqps:// only");
    if (name.size() == option.size()) return Malformed("cacertfile without a value");
    BRAID_TRY(address.ca_file, Decode(option.substr(name.size() + 1), "cacertfile"));
  }
  return {};
}

}  // namespace

std::string Address::ToString() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return StrCat(tls ? "amqps://" : "amqp://", user, "@", ipv6 ? "[" : "", host, ipv6 ? "]" : "", ":", port,
                vhost.starts_with('/') ? "" : "/", vhost);
}

Result<Address> ParseAddress(std::string_view uri) {
  Address address;
  if (uri.starts_with("amqps://")) {
    address.tls = true;
    address.port = 5671;
    uri.remove_prefix(8);
  } else if (uri.starts_with("amqp://")) {
    uri.remove_prefix(7);
  } else {
    return Malformed("it does not start with amqp:// or amqps://");
  }
  std::string_view authority = TakeUntil(uri, "/?");
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    BRAID_CHECK_OK(ParseUser(authority.substr(0, at), address));
    authority.remove_prefix(at + 1);
  }
  BRAID_CHECK_OK(ParseHost(authority, address));
  const std::string_view path = TakeUntil(uri, "?");
  if (path.size() > 1) {
    // A raw slash is nearly always a vhost that should have been written %2F…; RabbitMQ's own clients refuse it too.
    if (path.find('/', 1) != std::string_view::npos) return Malformed("a '/' inside the vhost is written %2F");
    BRAID_TRY(address.vhost, Decode(path.substr(1), "vhost"));
  }
  if (!uri.empty()) BRAID_CHECK_OK(ParseQuery(uri.substr(1), address));
  return address;
}

}  // namespace braid::queue
