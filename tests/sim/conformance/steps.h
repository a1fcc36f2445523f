// SPDX-License-Identifier: Apache-2.0
// Random sequences of what the conformance test's clients do. A seed decides all of it beforehand, so that real and
// simulated servers get the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zklock::sim {

inline constexpr int kParties = 3;  // each has one session

// A request without its header.
struct Asked {
  int32_t type = 0;
  std::string body;
  std::string text;       // for the story
  std::string path = {};  // of a read
  bool watches = false;   // the read leaves a watch
  bool ends = false;      // the server ends the connection after its answer
};

struct Step {
  enum class Kind {
    open,            // a new session, also when there is an old one, which is left alone
    ask,             // the requests, all at once
    disconnect,      // without closing the session
    reconnect,       // and tell the server the watches that are left
    wrong_password,  // a handshake with one
    ahead,           // a handshake with a zxid of the future
    barrier,         // all parties that are connected get what is on its way
  };
  Kind kind;
  int party = 0;
  int server = 0;
  std::vector<Asked> asked = {};
  // Several nodes are removed at once: the order of their events is the server's.
  bool unordered = false;
};

// All paths are below `top`, which the first step makes. Each session is closed at the end.
std::vector<Step> make_steps(uint64_t seed, const std::string& top, int servers);

std::string story_of(const Step& step);

}  // namespace zklock::sim
