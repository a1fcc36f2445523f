// SPDX-License-Identifier: Apache-2.0
// deny ENOSYS|EPERM CALL... -- CMD [ARG...]: becomes CMD, to which the kernel refuses these system calls, as an old
// kernel or a container's filter does. `subreaper` is prctl(PR_SET_CHILD_SUBREAPER).
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

struct Named {
  const char* name;
  unsigned number;
};

constexpr Named kCalls[] = {
    {"pidfd_open", SYS_pidfd_open},   {"pidfd_send_signal", SYS_pidfd_send_signal}, {"clone3", SYS_clone3},
    {"close_range", SYS_close_range}, {"memfd_create", SYS_memfd_create},           {"subreaper", SYS_prctl}};

unsigned number_of(const std::string& name) {
  for (const Named& call : kCalls) {
    if (name == call.name) return call.number;
  }
  std::fprintf(stderr, "deny: unknown call %s\n", name.c_str());
  _exit(64);
}

sock_filter statement(unsigned code, unsigned value) {
  return {static_cast<uint16_t>(code), 0, 0, value};
}

// Skips so many statements unless the values are equal.
sock_filter unless(unsigned value, uint8_t over) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, over, value};
}

void add(std::vector<sock_filter>& filter, unsigned number, unsigned error) {
  filter.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  const bool is_prctl = number == SYS_prctl;
  filter.push_back(unless(number, is_prctl ? 3 : 1));
  if (is_prctl) {
    filter.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
    filter.push_back(unless(PR_SET_CHILD_SUBREAPER, 1));
  }
  filter.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
}

}  // namespace

int main(int, char** argv) {
  const unsigned error = argv[1] && std::strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS;
  std::vector<sock_filter> filter;
  char** word = argv + 2;
  for (; *word && std::strcmp(*word, "--") != 0; ++word) add(filter, number_of(*word), error);
  if (!*word) return 64;
  filter.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("deny");
    return 77;
  }
  execvp(word[1], word + 1);
  return 127;
}
