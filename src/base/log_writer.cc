#include "base/log_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string_view>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/strings.h"

namespace braid::log {
namespace {

constexpr std::chrono::milliseconds kEndPatience{1000};

// The destination of lines. The thread keeps it alive while it writes, so that the file can be replaced meanwhile.
class Output {
 public:
  // Owns the descriptor.
  explicit Output(int descriptor) : descriptor_(descriptor) {}
  ~Output() { ::close(descriptor_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // False if it could not be written to its end.
  bool Write(std::string_view line) const {
    while (!line.empty()) {
      const ssize_t written = ::write(descriptor_, line.data(), line.size());
      if (written >= 0) {
        line.remove_prefix(static_cast<size_t>(written));
      } else if (errno == EAGAIN) {  // another process made the shared descriptor non-blocking
        pollfd writable{.fd = descriptor_, .events = POLLOUT, .revents = 0};
        ::poll(&writable, 1, -1);
      } else if (errno != EINTR) {
        return false;
      }
    }
    return true;
  }

 private:
  const int descriptor_;
};

}  // namespace

struct LogWriter::State {
  // The thread, from its start to its end.
  void Run();

  Mutex mu;
  CondVar more;
  CondVar idle;
  std::deque<std::string> lines BRAID_GUARDED_BY(mu);
  size_t bytes BRAID_GUARDED_BY(mu) = 0;  // of the lines
  std::shared_ptr<const Output> output BRAID_GUARDED_BY(mu);
  std::function<std::string(uint64_t)> note BRAID_GUARDED_BY(mu);
  uint64_t dropped BRAID_GUARDED_BY(mu) = 0;
  uint64_t unsaid BRAID_GUARDED_BY(mu) = 0;   // dropped since the last note
  bool writing BRAID_GUARDED_BY(mu) = false;  // the thread has taken a line
  bool stopping BRAID_GUARDED_BY(mu) = false;
  bool ended BRAID_GUARDED_BY(mu) = false;
};

void LogWriter::State::Run() {
  MutexLock lock(mu);
  while (true) {
    more.Wait(lock, [this]() BRAID_REQUIRES(mu) { return stopping || !lines.empty(); });
    if (lines.empty()) break;
    const uint64_t said = std::exchange(unsaid, 0);
    std::string text = said > 0 ? note(said) : "";
    text += lines.front();
    bytes -= lines.front().size();
    lines.pop_front();
    writing = true;
    const std::shared_ptr<const Output> to = output;
    lock.Unlock();
    const bool written = to->Write(text);
    lock.Lock();
    writing = false;
    if (!written) {
      ++dropped;
      unsaid += said + 1;
    }
    if (lines.empty()) idle.NotifyAll();
  }
  ended = true;
  idle.NotifyAll();
}

LogWriter::LogWriter(int descriptor, std::function<std::string(uint64_t)> note) : state_(std::make_shared<State>()) {
  state_->output = std::make_shared<const Output>(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  state_->note = std::move(note);
  // The thread handles no signals. SIGPIPE comes to the thread that writes: blocked here, a reader that has gone is an
  // error of the write and nothing more.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([state = state_] { state->Run(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LogWriter::~LogWriter() {
  MutexLock lock(state_->mu);
  state_->stopping = true;
  state_->more.NotifyOne();
  state_->idle.WaitFor(lock, kEndPatience, [this]() BRAID_REQUIRES(state_->mu) { return state_->ended; });
}

void LogWriter::Push(std::string line) {
  const MutexLock lock(state_->mu);
  state_->bytes += line.size();
  state_->lines.push_back(std::move(line));
  while (state_->lines.size() > kLinesMax || (state_->bytes > kBytesMax && state_->lines.size() > 1)) {
    state_->bytes -= state_->lines.front().size();
    state_->lines.pop_front();
    ++state_->dropped;
    ++state_->unsaid;
  }
  state_->more.NotifyOne();
}

Status LogWriter::Open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (descriptor < 0) {
    return {Code::kBadValue, StrCat("cannot open the log file ", path, ": ", std::strerror(errno))};
  }
  auto output = std::make_shared<const Output>(descriptor);
  const MutexLock lock(state_->mu);
  state_->output = std::move(output);
  return {};
}

void LogWriter::Flush(std::chrono::milliseconds longest) {
  MutexLock lock(state_->mu);
  state_->idle.WaitFor(lock, longest,
                       [this]() BRAID_REQUIRES(state_->mu) { return state_->lines.empty() && !state_->writing; });
}

uint64_t LogWriter::dropped() const {
  const MutexLock lock(state_->mu);
  return state_->dropped;
}

}  // namespace braid::log
