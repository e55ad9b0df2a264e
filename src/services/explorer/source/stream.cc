#include "services/explorer/source/stream.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::explorer::source {
namespace {

// The longest time until a wait notices a request to stop.
constexpr std::chrono::milliseconds kStopSlice{50};

Status SocketError(std::string_view what, int error) {
  return Status(Code::kHostUnreachable, StrCat(what, ": ", strerror(error)));
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

Result<AddressList> Resolve(const HttpAddress& address) {
  const addrinfo hints{.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
  addrinfo* list = nullptr;
  const int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &list);
  if (error != 0) {
    return Status(Code::kHostUnreachable, StrCat("cannot find the host ", address.host, ": ", gai_strerror(error)));
  }
  return AddressList(list);
}

struct FreeTlsContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

std::string TlsError() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  char text[256];
  ERR_error_string_n(error, text, sizeof(text));
  return text;
}

Status MalformedUrl(std::string_view what) {
  return Status(Code::kBadValue, StrCat("the node's address: ", what,
                                        "; expected http://HOST:PORT/PATH or https://USER:PASSWORD@HOST:PORT/PATH"));
}

Result<std::string> DecodePercent(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || read.ptr != digits.data() + 2) return MalformedUrl("bad percent-encoding of the user");
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

Status ParsePort(std::string_view text, uint16_t& port) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole && port > 0 ? Status() : MalformedUrl(StrCat("'", text, "' is not a port"));
}

}  // namespace

void Stream::FreeTls::operator()(ssl_st* tls) const { SSL_free(tls); }

std::unique_ptr<Stream> Stream::Accepted(int descriptor) {
  BRAID_ASSERT(descriptor >= 0);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return std::unique_ptr<Stream>(new Stream(descriptor));
}

Stream::~Stream() {
  tls_.reset();
  close(descriptor_);
}

void Stream::ShutDown() { ::shutdown(descriptor_, SHUT_RDWR); }

Status Stream::Await(short events) const {
  for (;;) {
    if (patience_.stop != nullptr && patience_.stop->load()) return Status(Code::kInterrupted, "interrupted");
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::min<std::chrono::steady_clock::duration>(
        patience_.deadline - std::chrono::steady_clock::now(), std::chrono::hours(1)));
    if (left.count() <= 0) return Status(Code::kNetworkTimeout, "no answer in time");
    pollfd wanted{.fd = descriptor_, .events = events, .revents = 0};
    const auto slice = patience_.stop != nullptr ? std::min(left, kStopSlice) : left;
    const int ready = poll(&wanted, 1, static_cast<int>(slice.count()));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return SocketError("poll", errno);
  }
}

Result<std::unique_ptr<Stream>> Stream::Connect(const HttpAddress& address, const Patience& patience) {
  BRAID_TRY(const AddressList list, Resolve(address));
  Status failure(Code::kHostUnreachable, StrCat("the host ", address.host, " has no address"));
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    const int descriptor = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return SocketError("cannot make a socket", errno);
    std::unique_ptr<Stream> stream = Accepted(descriptor);
    stream->SetPatience(patience);
    int error = connect(descriptor, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      BRAID_CHECK_OK(stream->Await(POLLOUT));
      socklen_t size = sizeof(error);
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error != 0) {
      failure = SocketError("cannot connect", error);
      continue;
    }
    if (address.tls) BRAID_CHECK_OK(stream->StartTls(address));
    return stream;
  }
  return failure;
}

Status Stream::StartTls(const HttpAddress& address) {
  BRAID_ASSERT(tls_ == nullptr);  // once per connection
  const std::unique_ptr<SSL_CTX, FreeTlsContext> context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return Status(Code::kHostUnreachable, StrCat("TLS: ", TlsError()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (address.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else if (SSL_CTX_load_verify_locations(context.get(), address.ca_file.c_str(), nullptr) != 1) {
    ERR_clear_error();
    return Status(Code::kInvalidOptions, StrCat("cannot use the certificates in ", address.ca_file));
  }
  // OpenSSL's writes raise SIGPIPE when the peer has gone; their errors report it as well.
  signal(SIGPIPE, SIG_IGN);
  tls_.reset(SSL_new(context.get()));
  SSL_set_fd(tls_.get(), descriptor_);
  SSL_set_tlsext_host_name(tls_.get(), address.host.c_str());
  SSL_set1_host(tls_.get(), address.host.c_str());
  for (;;) {
    const int result = SSL_connect(tls_.get());
    if (result == 1) return {};
    BRAID_CHECK_OK(AwaitTls(result, "TLS handshake"));
  }
}

// Waits until the socket is readable or writable, as the library requires; an error if it requires neither.
Status Stream::AwaitTls(int result, std::string_view what) {
  BRAID_ASSERT(tls_ != nullptr && result <= 0);
  const int error = SSL_get_error(tls_.get(), result);
  if (error == SSL_ERROR_WANT_READ) return Await(POLLIN);
  if (error == SSL_ERROR_WANT_WRITE) return Await(POLLOUT);
  const long verified = SSL_get_verify_result(tls_.get());
  if (verified != X509_V_OK) {
    ERR_clear_error();
    return Status(Code::kHostUnreachable,
                  StrCat(what, ": the certificate is not accepted: ", X509_verify_cert_error_string(verified)));
  }
  if (error == SSL_ERROR_SYSCALL) return SocketError(what, errno == 0 ? ECONNRESET : errno);
  return Status(Code::kHostUnreachable, StrCat(what, ": ", TlsError()));
}

Result<size_t> Stream::Read(char* data, size_t size) {
  BRAID_ASSERT(size > 0);  // 0 bytes are the end of the stream
  for (;;) {
    if (tls_ != nullptr) {
      size_t count = 0;
      const int result = SSL_read_ex(tls_.get(), data, size, &count);
      if (result == 1) return count;
      if (SSL_get_error(tls_.get(), result) == SSL_ERROR_ZERO_RETURN) return 0;
      BRAID_CHECK_OK(AwaitTls(result, "read"));
      continue;
    }
    const ssize_t count = recv(descriptor_, data, size, 0);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EAGAIN && errno != EINTR) return SocketError("read", errno);
    BRAID_CHECK_OK(Await(POLLIN));
  }
}

Result<size_t> Stream::Write(std::string_view data) {
  for (;;) {
    if (tls_ != nullptr) {
      size_t count = 0;
      const int result = SSL_write_ex(tls_.get(), data.data(), data.size(), &count);
      if (result == 1) return count;
      BRAID_CHECK_OK(AwaitTls(result, "write"));
      continue;
    }
    const ssize_t count = send(descriptor_, data.data(), data.size(), MSG_NOSIGNAL);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EAGAIN && errno != EINTR) return SocketError("write", errno);
    BRAID_CHECK_OK(Await(POLLOUT));
  }
}

// Addresses of HTTP servers as URLs.

std::string HttpAddress::ToString() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return StrCat(tls ? "https://" : "http://", is_v6 ? "[" : "", host, is_v6 ? "]:" : ":", port, target);
}

Result<HttpAddress> ParseHttpAddress(std::string_view url) {
  HttpAddress address;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    address.tls = true;
    address.port = 443;
  } else if (!rest.starts_with("http://")) {
    return MalformedUrl("it must begin with http:// or https://");
  }
  rest.remove_prefix(rest.find("//") + 2);
  for (const char c : rest) {
    if (c <= ' ' || c > '~') return MalformedUrl("it has a character that must be percent-encoded");
  }
  rest = rest.substr(0, rest.find('#'));
  std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(authority.size());
  if (!rest.empty()) address.target = rest.starts_with('/') ? std::string(rest) : StrCat("/", rest);
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    BRAID_TRY(address.authorization, DecodePercent(authority.substr(0, at)));
    authority.remove_prefix(at + 1);
  }
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    BRAID_CHECK_OK(ParsePort(authority.substr(colon + 1), address.port));
    authority = authority.substr(0, colon);
  }
  const bool is_v6 = authority.starts_with('[') && authority.ends_with(']');
  address.host = is_v6 ? authority.substr(1, authority.size() - 2) : authority;
  if (address.host.empty()) return MalformedUrl("the host is missing");
  return address;
}

}  // namespace braid::explorer::source
