// SPDX-License-Identifier: Apache-2.0
#include "host/process/program.h"

#include "base/text.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";  // when PATH is not set
constexpr const char* kShell = "/bin/sh";

// 0, or the errno that execve would give.
int check(const std::string& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return errno;
  if (S_ISDIR(found.st_mode)) return EISDIR;
  // The effective user counts for execve; access() would ask for the real one.
  return faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool sets_same_variable(const char* entry, const std::string& variable) {
  return variable.compare(0, variable.find('=') + 1, entry, 0, variable.find('=') + 1) == 0;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    bool replaced = false;
    for (const std::string& variable : variables) replaced |= sets_same_variable(*entry, variable);
    if (!replaced) all.emplace_back(*entry);
  }
  all.insert(all.end(), variables.begin(), variables.end());
  return all;
}

}  // namespace

Failure cannot_execute(const Program& program, int error) {
  const std::string name = program.arguments[0].empty() ? "''" : printable(program.arguments[0]);
  if (error == ENOENT) {
    const bool there = access(program.file.c_str(), F_OK) == 0;
    return {ExitStatus::not_found,
            fmt::format("cannot run {}: {}", name, there ? "its interpreter was not found" : "command not found")};
  }
  return {ExitStatus::not_executable, fmt::format("cannot run {}: {}", name, std::strerror(error))};
}

Program Program::find(std::vector<std::string> arguments) {
  Program program{arguments[0], std::move(arguments)};
  const std::string name = program.file;
  int error = ENOENT;
  if (name.find('/') != std::string::npos) {
    error = check(name);
  } else if (!name.empty()) {
    const char* path = std::getenv("PATH");
    for (const std::string_view folder : split(path ? path : kDefaultPath, ':')) {
      program.file = folder.empty() ? name : fmt::format("{}/{}", folder, name);
      const int reason = check(program.file);
      if (reason == 0) return program;
      // A file that is there but not executable is the better reason; a folder is none, as in shells.
      if (reason == EACCES) error = EACCES;
    }
    program.file = name;
  }
  if (error != 0) throw cannot_execute(program, error == ENOTDIR ? ENOENT : error);
  return program;
}

Execution::Execution(const Program& program, const std::vector<std::string>& variables)
    : environment_(environment_with(variables)),
      variables_(pointers_to(environment_)),
      arguments_(pointers_to(program.arguments)),
      by_shell_(arguments_),
      file_(program.file.c_str()) {
  by_shell_[0] = const_cast<char*>(file_);
  by_shell_.insert(by_shell_.begin(), const_cast<char*>(kShell));
}

int Execution::execute() const {
  execve(file_, arguments_.data(), variables_.data());
  if (errno != ENOEXEC) return errno;
  execve(kShell, by_shell_.data(), variables_.data());
  return errno;
}

}  // namespace zklock::host
