// SPDX-License-Identifier: Apache-2.0
// bare crowd GROUP: members of one session, for measurements in which only their number counts. For each line "+N" or
// "-N" of standard input, N more join, or the N that joined last leave; then it prints "ok". Their names, and so their
// data, have the same length. The group must exist.
#include "bare.h"
#include "bare_client.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace {

// Limits unanswered requests, so that the answers do not pile up.
constexpr size_t kMostInFlight = 1000;

constexpr size_t kDigits = 8;
constexpr int kPause = 1000;  // milliseconds, after which the library wants to ping

std::string member(const std::string& group, long number) {
  const std::string digits = std::to_string(number);
  return group + "/m" + std::string(kDigits - digits.size(), '0') + digits;
}

void await_all(bare::Client& client, std::deque<bare::Answer>& answers, size_t left) {
  while (answers.size() > left) {
    client.await(answers.front(), "cannot join or leave");
    answers.pop_front();
  }
}

void change(bare::Client& client, const std::string& group, long& members, long change) {
  std::deque<bare::Answer> answers;
  for (; change > 0; --change) {
    client.create(member(group, members++), "", ZOO_EPHEMERAL, answers.emplace_back());
    await_all(client, answers, kMostInFlight);
  }
  for (; change < 0; ++change) {
    client.remove(member(group, --members), answers.emplace_back());
    await_all(client, answers, kMostInFlight);
  }
  await_all(client, answers, 0);
}

// The next line comes after this one was answered, so none waits in a buffer.
bool await_line(bare::Client& client, std::string& line) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (poll(&input, 1, kPause) == 0) client.turn(false);
  return bare::next_line(line);
}

}  // namespace

bool bare::crowd(const Words& words) {
  if (words.size() != 1) return false;
  Client client;
  long members = 0;
  for (std::string line; await_line(client, line);) {
    change(client, words[0], members, std::atol(line.c_str()));
    std::puts("ok");
    std::fflush(stdout);
  }
  return true;
}
