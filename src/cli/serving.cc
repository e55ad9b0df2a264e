#include "cli/serving.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/log.h"

namespace braid::cli {
namespace {

// Opens the first free port, from `port` on, of the given number of ports.
template <typename Listen>
auto ListenFrom(uint16_t& port, uint16_t ports, const Listen& listen) -> decltype(listen()) {
  for (;; ++port, --ports) {
    auto listening = listen();
    if (listening.ok() || ports <= 1 || listening.error().code() != Code::kHostUnreachable) return listening;
  }
}

}  // namespace

void NotifyServiceManager(std::string_view state) {
  const char* const variable = std::getenv("NOTIFY_SOCKET");
  const std::string_view name = variable == nullptr ? "" : variable;
  sockaddr_un address{};
  if (name.size() < 2 || name.size() >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name.front() == '@') address.sun_path[0] = '\0';  // a name outside of the file system
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
               length) < 0) {
    log::warn("cannot send {1} to the service manager at {0}: {2}", name, state, std::strerror(errno));
  }
  ::close(descriptor);
}

int64_t MonotonicMicros() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

Result<std::unique_ptr<Serving>> Serving::Open(ServeArgs& args) {
  // The port first: its number goes into the engine's replies, and a port in use is found before the store is touched.
  BRAID_TRY(std::unique_ptr<wire::Server> server,
            ListenFrom(args.server.port, args.ports, [&] { return wire::Server::Listen(args.server); }));
  BRAID_TRY(std::unique_ptr<HttpService> http,
            ListenFrom(args.http.server.port, args.http_ports, [&] { return HttpService::Listen(args.http); }));
  args.engine.advertised_host = server->address();
  BRAID_TRY(std::unique_ptr<commands::Engine> engine, commands::Engine::Open(args.engine));
  std::unique_ptr<Serving> serving(new Serving(std::move(server), std::move(http), std::move(engine)));
  serving->engine_->SetConnectionFigures([server = serving->server_.get()] { return server->Figures(); });
  serving->server_->Serve(serving->handler_);
  serving->note_.emplace(args.store, serving->address(), serving->engine_->process_id());
  if (serving->http_ != nullptr) serving->http_->Serve(*serving->engine_, serving->handler_);
  return serving;
}

Serving::~Serving() { Stop(); }

void Serving::Stop() {
  if (std::exchange(stopped_, true)) return;
  if (http_ != nullptr) http_->BeginStop();
  server_->Stop();
  if (http_ != nullptr) http_->Drain();
  engine_->BeginShutdown();
  if (http_ != nullptr) http_->Stop();
  note_.reset();
}

}  // namespace braid::cli
