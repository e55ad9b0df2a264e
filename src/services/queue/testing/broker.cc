#include "services/queue/testing/broker.h"

#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/assert.h"
#include "base/strings.h"
#include "services/queue/connection.h"

namespace braid::test {
namespace {

constexpr std::chrono::seconds kHeartbeat{10};

/// A free port below the range of ephemeral ports, so that no client can take it while the broker is down.
uint16_t FreePort() {
  Random random(RandomSeed());
  for (;;) {
    const auto port = static_cast<uint16_t>(20'000 + random.Below(12'000));
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool free = bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(probe);
    if (free) return port;
  }
}

void MakeCertificate(const std::string& directory) {
  const std::string command = StrCat("cd '", directory,
                                     "' && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
                                     " -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>/dev/null");
  BRAID_ASSERT(std::system(command.c_str()) == 0);
}

std::unique_ptr<queue::Connection> Open(const queue::Address& address) {
  auto opened = queue::Connection::Open(address, kHeartbeat);
  BRAID_ASSERT(opened.ok());
  return *std::move(opened);
}

}  // namespace

Broker::Broker() : port_(FreePort()), tls_port_(FreePort()) {
  MakeCertificate(directory_.path().string());
  Start();
}

Broker::~Broker() { Kill(); }

queue::Address Broker::address() const { return {.host = "127.0.0.1", .port = port_}; }

queue::Address Broker::tls_address() const {
  return {.tls = true, .host = "localhost", .port = tls_port_, .ca_file = (directory_.path() / "cert.pem").string()};
}

void Broker::Start() {
  const std::string directory = directory_.path().string();
  const std::string port = StrCat(port_);
  const std::string tls_port = StrCat(tls_port_);
  pid_ = fork();
  BRAID_ASSERT(pid_ >= 0);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(BRAID_RUN_BROKER, "run_broker", directory.c_str(), port.c_str(), tls_port.c_str(), nullptr);
    _exit(127);
  }
  AwaitReady();
}

void Broker::AwaitReady() const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!queue::Connection::Open(address(), kHeartbeat).ok()) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0 || std::chrono::steady_clock::now() > deadline) {
      std::system(StrCat("tail -n 30 '", directory_.path().string(), "/broker.log' >&2").c_str());
      BRAID_ASSERT(!"the broker did not start; the end of its log is above");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void Broker::End(int signal) {
  if (pid_ < 0) return;
  kill(pid_, signal);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

size_t Broker::Count(const std::string& queue) const {
  const auto connection = Open(address());
  const amqp_queue_declare_ok_t* answer =
      amqp_queue_declare(connection->state(), queue::Connection::kChannel, amqp_cstring_bytes(queue.c_str()),
                         /*passive=*/1, 0, 0, 0, amqp_empty_table);
  BRAID_ASSERT(answer != nullptr);
  return answer->message_count;
}

void Broker::DeleteQueue(const std::string& queue) const {
  const auto connection = Open(address());
  BRAID_ASSERT(amqp_queue_delete(connection->state(), queue::Connection::kChannel, amqp_cstring_bytes(queue.c_str()), 0,
                                 0) != nullptr);
}

void Broker::DeclareTransient(const std::string& queue) const {
  const auto connection = Open(address());
  BRAID_ASSERT(amqp_queue_declare(connection->state(), queue::Connection::kChannel, amqp_cstring_bytes(queue.c_str()),
                                  0,
                                  /*durable=*/0, 0, 0, amqp_empty_table) != nullptr);
}

void Broker::CutConnections() const {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::atoi(entry.path().filename().c_str());
    sockaddr_in peer = {};
    socklen_t size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET) continue;
    if (ntohs(peer.sin_port) == port_) shutdown(fd, SHUT_RDWR);
  }
}

}  // namespace braid::test
