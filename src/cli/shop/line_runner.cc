#include "cli/shop/line_runner.h"

#include <algorithm>

#include "base/mutex.h"

namespace braid::cli::shop {
namespace {

constexpr size_t kHeldLinesMax = 4096;
constexpr size_t kHeldBytesMax = 64 << 20;

}  // namespace

LineRunner::LineRunner(size_t threads, RunLine run, Print print) : run_(std::move(run)), print_(std::move(print)) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

LineRunner::~LineRunner() {
  {
    const MutexLock lock(mu_);
    ended_ = true;
  }
  ready_changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

bool LineRunner::Add(std::string_view line, std::vector<braid::shop::Touched> touched) {
  MutexLock lock(mu_);
  room_changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) {
    return jobs_.empty() || !failure_.ok() || (jobs_.size() < kHeldLinesMax && held_bytes_ < kHeldBytesMax);
  });
  if (!failure_.ok()) return false;
  Job& job = *jobs_.emplace_back(std::make_unique<Job>());
  job.line = line;
  job.touched = std::move(touched);
  held_bytes_ += line.size();
  EnterLanes(job);
  return true;
}

Status LineRunner::Finish() {
  MutexLock lock(mu_);
  room_changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return jobs_.empty() && !printing_; });
  return failure_;
}

void LineRunner::EnterLanes(Job& job) {
  // A line with the same key twice would wait for itself.
  std::vector<braid::shop::Touched>& touched = job.touched;
  std::sort(touched.begin(), touched.end(),
            [](const auto& a, const auto& b) { return a.key != b.key ? a.key < b.key : a.shared < b.shared; });
  touched.erase(
      std::unique(touched.begin(), touched.end(), [](const auto& a, const auto& b) { return a.key == b.key; }),
      touched.end());
  for (const braid::shop::Touched& one : touched) {
    Lane& lane = lanes_[one.key];
    const bool granted = lane.empty() || (one.shared && lane.back().shared && lane.back().granted);
    lane.push_back({.job = &job, .shared = one.shared, .granted = granted});
    if (!granted) ++job.missing;
  }
  if (job.missing > 0) return;
  ready_.push_back(&job);
  ready_changed_.NotifyOne();
}

void LineRunner::LeaveLanes(Job& job) {
  for (const braid::shop::Touched& one : job.touched) {
    const auto place = lanes_.find(one.key);
    Lane& lane = place->second;
    lane.erase(std::find_if(lane.begin(), lane.end(), [&](const Waiting& waiting) { return waiting.job == &job; }));
    if (lane.empty()) {
      lanes_.erase(place);
    } else {
      GrantNext(lane);
    }
  }
}

// The first, and with it those behind it that share what it shares.
void LineRunner::GrantNext(Lane& lane) {
  for (size_t i = 0; i < lane.size(); ++i) {
    Waiting& waiting = lane[i];
    if (i > 0 && !(waiting.shared && lane.front().shared)) return;
    if (waiting.granted) continue;
    waiting.granted = true;
    if (--waiting.job->missing > 0) continue;
    ready_.push_back(waiting.job);
    ready_changed_.NotifyOne();
  }
}

void LineRunner::Work() {
  MutexLock lock(mu_);
  while (true) {
    ready_changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return !ready_.empty() || (ended_ && jobs_.empty()); });
    if (ready_.empty()) return;
    Job& job = *ready_.front();
    ready_.pop_front();
    lock.Unlock();
    std::string result = run_(job.line);
    lock.Lock();
    held_bytes_ += result.size() - job.line.size();
    job.line.clear();
    job.line.shrink_to_fit();
    job.result = std::move(result);
    LeaveLanes(job);
    job.done = true;
    PrintDone();
  }
}

// One thread prints at a time, and goes on for as long as the oldest line is done.
void LineRunner::PrintDone() {
  if (printing_) return;
  printing_ = true;
  while (!jobs_.empty() && jobs_.front()->done) {
    std::string results;
    size_t bytes = 0;
    while (!jobs_.empty() && jobs_.front()->done) {
      bytes += jobs_.front()->result.size();
      results += jobs_.front()->result;
      results += '\n';
      jobs_.pop_front();
    }
    const bool failed = !failure_.ok();
    mu_.Unlock();
    const Status status = failed ? Status() : print_(results);
    mu_.Lock();
    if (!status.ok()) failure_ = status;
    held_bytes_ -= bytes;
    room_changed_.NotifyAll();
  }
  printing_ = false;
  room_changed_.NotifyAll();
  if (jobs_.empty()) ready_changed_.NotifyAll();
}

}  // namespace braid::cli::shop
