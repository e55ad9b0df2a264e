#include "cli/server_process.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/strings.h"

namespace braid::cli {
namespace {

constexpr std::string_view kReady = "braid: listening on ";

// In the child: only calls that are safe after fork.
[[noreturn]] void Serve(const char* directory, const char* shards, int out) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setpgid(0, 0);  // Ctrl-C is for the client, which then stops the server
  dup2(out, STDOUT_FILENO);
  execl("/proc/self/exe", "braid", "serve", "--store", directory, "--port", "0", "--log-level", "warning",
        shards == nullptr ? nullptr : "--shards", shards, nullptr);
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<ServerProcess>> ServerProcess::Start(const std::string& directory, int shards) {
  const std::string shards_text = StrCat(shards);
  int ends[2];
  if (pipe(ends) != 0) return Status(Code::kInternalError, StrCat("cannot start a server: ", strerror(errno)));
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    Serve(directory.c_str(), shards > 0 ? shards_text.c_str() : nullptr, ends[1]);
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
  return Status(Code::kInternalError, StrCat("the server on ", directory, " did not start; its reason is above"));
}

ServerProcess::~ServerProcess() {
  kill(pid_, SIGTERM);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace braid::cli
