// SPDX-License-Identifier: Apache-2.0
#include "zk/wire.h"

#include "zk/library_log.h"
#include "zk/reply.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

// The linker's names.
extern "C" ssize_t __real_recv(int fd, void* to, size_t size, int flags);
extern "C" ssize_t __wrap_recv(int fd, void* to, size_t size, int flags);

namespace zklock::zk {

namespace {

using namespace std::string_view_literals;

constexpr size_t kLength = 4;
constexpr size_t kPiece = 256 * 1024;
constexpr size_t kProgress = 1024;  // less is no sign of life: a byte now and then would be one for ever

// Its length; then -2, which is a ping, a zxid and an error of 0.
constexpr std::string_view kPingAnswer = "\0\0\0\x10\xff\xff\xff\xfe\0\0\0\0\0\0\0\0\0\0\0\0"sv;

size_t length_in(std::string_view frame) {
  uint32_t length = 0;
  for (const char c : frame.substr(0, kLength)) length = length << 8 | static_cast<unsigned char>(c);
  return length;  // a negative one is too large
}

}  // namespace

thread_local Wire* Wire::in_use = nullptr;

void Wire::restart() {
  frame_.clear();
  out_.clear();
  taken_ = 0;
  cut_ = false;
  nonsense_ = false;
  end_ = End::none;
  marked_ = 0;
  progressed_ = {};
}

ssize_t Wire::receive(int fd, void* to, size_t size, int flags) {
  if (taken_ == out_.size()) {
    switch (fill(fd, flags)) {
      case Fill::frame:
        break;
      case Fill::nothing:
        errno = EAGAIN;
        return -1;
      case Fill::ended: {
        const End end = nonsense_ ? End::nonsense : cut_ ? End::cut : End::closed;
        restart();
        end_ = end;
        return 0;
      }
    }
  }
  return hand_out(to, size);
}

ssize_t Wire::hand_out(void* to, size_t size) {
  const size_t given = std::min(size, out_.size() - taken_);
  std::memcpy(to, out_.data() + taken_, given);
  taken_ += given;
  return static_cast<ssize_t>(given);
}

// Never more than one frame: whoever polls must see that there are more.
Wire::Fill Wire::fill(int fd, int flags) {
  for (;;) {
    const size_t length = frame_.size() < kLength ? 0 : length_in(frame_);
    const size_t want = kLength + length - frame_.size();
    if (frame_.size() >= kLength && want == 0) break;
    const Fill taken = take(fd, std::min(want, kPiece), flags);
    if (taken == Fill::ended) return taken;
    if (taken == Fill::nothing) {
      const Deadline before = progressed_;
      note_progress();
      if (progressed_ == before) return taken;
      out_ = kPingAnswer;
      taken_ = 0;
      return Fill::frame;
    }
    if (frame_.size() == kLength && length_in(frame_) > kLargestReply) {
      note_stranger(stranger(frame_));
      nonsense_ = true;
      return Fill::ended;
    }
  }
  nonsense_ = !check_(std::string_view(frame_).substr(kLength));
  if (nonsense_) return Fill::ended;
  out_.swap(frame_);
  frame_.clear();
  taken_ = marked_ = 0;
  progressed_ = {};
  return Fill::frame;
}

Wire::Fill Wire::take(int fd, size_t want, int flags) {
  const size_t before = frame_.size();
  frame_.resize(before + want);
  const ssize_t taken = __real_recv(fd, frame_.data() + before, want, flags);
  const int error = errno;
  frame_.resize(before + static_cast<size_t>(std::max<ssize_t>(taken, 0)));
  if (taken > 0) return Fill::frame;
  return taken < 0 && (error == EAGAIN || error == EINTR) ? Fill::nothing : Fill::ended;
}

void Wire::note_progress() {
  if (frame_.size() < marked_ + kProgress) return;
  marked_ = frame_.size();
  progressed_ = BootClock::now();
}

}  // namespace zklock::zk

ssize_t __wrap_recv(int fd, void* to, size_t size, int flags) {
  zklock::zk::Wire* wire = zklock::zk::Wire::in_use;
  return wire ? wire->receive(fd, to, size, flags) : __real_recv(fd, to, size, flags);
}
