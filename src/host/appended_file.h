// SPDX-License-Identifier: Apache-2.0
// A file to which many programs append their lines at once, named at the start and written to at the end. "-" is
// standard output, "/dev/fd/N" what the caller has opened as N.
#pragma once

#include "host/fd.h"

#include <string>
#include <string_view>

namespace zklock::host {

class AppendedFile {
 public:
  // Opens it, or makes it. Commands that are started later do not get it, nor N but for standard output and error.
  // Throws a Failure (64) that names it; a fifo that nobody reads is a failure too.
  explicit AppendedFile(std::string name);

  // `line` in one write, where the file takes it in one: then lines of others stand before or behind it. What takes
  // nothing, a pipe whose reader sleeps, is waited for for some seconds. Returns errno of what failed, 0 for nothing;
  // a part of the line may have been written then. A file that cannot be opened again gets it all the same, unless
  // nobody could read it there any more.
  int append(std::string_view line);

 private:
  void open_named();
  void open_inherited(int number);
  Fd reopened() const;

  std::string name_;
  Fd own_;              // none where we may not open again what was inherited
  int inherited_ = -1;  // its number; -1: it was opened by its name
};

}  // namespace zklock::host
