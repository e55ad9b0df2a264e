#include "client/server_process.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/strings.h"

namespace braid::client {
namespace {

constexpr std::string_view kReady = "braid: listening on ";

// In the child: only calls that are safe after fork.
[[noreturn]] void Serve(const char* program, const char* directory, const char* shards, int out) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setpgid(0, 0);  // Ctrl-C is for the client, which then stops the server
  dup2(out, STDOUT_FILENO);
  execl(program, "braid", "serve", "--store", directory, "--port", "0", "--no-http", "--log-level", "warning",
        shards == nullptr ? nullptr : "--shards", shards, nullptr);
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<ServerProcess>> ServerProcess::Start(const Options& options) {
  const std::string shards = options.shards > 0 ? StrCat(options.shards) : "";
  int ends[2];
  if (pipe(ends) != 0) return Status(Code::kInternalError, StrCat("cannot start a server: ", strerror(errno)));
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    Serve(options.program.c_str(), options.directory.c_str(), shards.empty() ? nullptr : shards.c_str(), ends[1]);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return Status(Code::kInternalError, StrCat("cannot start a server: ", strerror(errno)));
  }
  std::unique_ptr<ServerProcess> server(new ServerProcess(pid));
  FILE* output = fdopen(ends[0], "r");
  char line[512];
  while (server->uri_.empty() && std::fgets(line, sizeof line, output) != nullptr) {
    const std::string_view text(line, strcspn(line, "\r\n"));
    if (text.starts_with(kReady)) server->uri_ = text.substr(kReady.size());
  }
  std::fclose(output);  // the server says nothing more there
  if (!server->uri_.empty()) return server;
  return Status(Code::kInternalError,
                StrCat("the server on ", options.directory, " did not start; its reason is above"));
}

void ServerProcess::Kill() { kill(pid_, SIGKILL); }

ServerProcess::~ServerProcess() {
  kill(pid_, SIGTERM);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace braid::client
