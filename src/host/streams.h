// SPDX-License-Identifier: Apache-2.0
// Standard input, standard output and files that programs share, for code that the other end must never block.
// O_NONBLOCK is not set on inherited descriptors, because other processes that have them open would get it too.
#pragma once

#include "host/fd.h"
#include "host/loop.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace zklock::host {

// Reads an inherited descriptor in the loop, and only after POLLIN. What was read stays until it is taken, even if
// other code turns the loop.
class StandardInput : public Source {
 public:
  explicit StandardInput(int fd);

  // Sets whether the next turns read. At first they do not, and after the end they never do.
  void want(bool wanted) { wanted_ = wanted && !ended_; }
  bool is_wanted() const { return wanted_; }

  // Returns what was read since the last call. After 64 KiB that were not taken, no more is read.
  std::string take() { return std::exchange(bytes_, {}); }
  bool is_dry() const { return dry_; }      // the last turn that could read found nothing
  bool is_ended() const { return ended_; }  // nothing more will come
  int error() const { return error_; }      // errno of the failed read that ended it; 0: none

  int64_t count() const { return count_; }               // bytes read
  std::optional<int64_t> size() const { return size_; }  // bytes left in a regular file at the start; else nothing

  void arm(PollSet& set) override {
    if (reads()) set.watch(fd_, POLLIN);
  }
  void record(const PollSet& set) override;

 private:
  static constexpr size_t kPiece = 64 * 1024;

  // This bounds what is kept while other code turns the loop and takes nothing.
  bool reads() const { return wanted_ && bytes_.size() < kPiece; }

  int fd_;
  bool wanted_ = false;
  bool dry_ = false;
  bool ended_ = false;
  int error_ = 0;
  int64_t count_ = 0;
  std::optional<int64_t> size_;
  std::string bytes_;
};

// Writes to standard output only when it takes something, and no more than it takes at once. In the loop, it ends the
// wait by SIGPIPE if the reader goes away.
class StandardOutput : public Source {
 public:
  StandardOutput();

  // Writes the beginning of `text` and returns how many bytes were taken: 0 if none are taken now. Throws a Failure: by
  // SIGPIPE if the reader is gone, 74 for other errors.
  size_t write(std::string_view text);
  // With true, a turn of the loop ends when standard output takes something again.
  void want(bool wanted) { wanted_ = wanted; }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  void decide() override;

 private:
  Fd own_;  // for a terminal, unless it is another user's, which we may not open
  int fd_;
  bool wanted_ = false;
  bool broken_ = false;
  bool told_ = false;  // the Failure was thrown: only once, so that cleaning up can wait
};

// A file to which many programs append their lines at the same time. It is named at the start and written to at the
// end. "-" stands for standard output, and "/dev/fd/N" for the descriptor N that the caller has opened.
class AppendedFile {
 public:
  // Opens the file, or creates it. Commands that are started later do not inherit it, nor N unless that is a standard
  // stream. Throws a Failure (64) that names the file if it cannot be written to, as a fifo that no process reads.
  explicit AppendedFile(std::string name);

  // Appends `line`, in one write if the file takes that, so that it stands whole between the lines of other programs.
  // If the file takes nothing, as a pipe whose reader sleeps, waits for up to 5 seconds. Returns 0, or errno of what
  // failed; then a part of the line may have been written. A file that cannot be opened again is still written to,
  // unless it was deleted, so that no line in it could be read.
  int append(std::string_view line);

 private:
  std::string name_;
  Fd own_;              // the file as we opened it; none: `inherited_` is used
  int inherited_ = -1;  // the caller's descriptor; -1: the file was opened by its name
};

// Returns POLLOUT if `fd` takes something now, or takes something until `until`. Other events, as POLLERR, may be set
// besides that or alone: then writing to it fails at once. Returns 0 if there are none.
short poll_for_output(int fd, Deadline until = {});

// Returns what `fd` is, like S_IFIFO; 0 if that is not known.
mode_t type_of(int fd);

// Opens what `fd` writes to once more for writing, with an O_NONBLOCK that affects nothing but this descriptor. Returns
// none, with errno set, if we may not.
Fd open_for_us_alone(int fd);

}  // namespace zklock::host
