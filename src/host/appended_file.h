// SPDX-License-Identifier: Apache-2.0
// A file to which many programs append their lines at the same time. It is named at the start and written to at the
// end. "-" stands for standard output, and "/dev/fd/N" for the descriptor N that the caller has opened.
#pragma once

#include "host/fd.h"

#include <string>
#include <string_view>

namespace zklock::host {

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
  void open_named();
  void open_inherited(int number);
  Fd reopened() const;

  std::string name_;
  Fd own_;              // the file as we opened it; none: `inherited_` is used
  int inherited_ = -1;  // the caller's descriptor; -1: the file was opened by its name
};

}  // namespace zklock::host
