// SPDX-License-Identifier: Apache-2.0
// bare lock PATH: the least cost of a lock held for `true`. It makes the requests of `zklock run PATH -- true`, in one
// process without lease or guard. The node above must exist.
#include "bare.h"
#include "bare_client.h"

#include <algorithm>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// Returns the number that the server gave.
std::string place_of(const std::string& name) {
  return name.substr(name.size() - 10);
}

bool is_before(const std::string& left, const std::string& right) {
  return place_of(left) < place_of(right);
}

// Waits until no contender is before `name`. `names` is the list at our arrival. Returns whether our own node is
// watched.
bool wait_for_turn(bare::Client& client, const std::string& path, const std::string& name,
                   std::vector<std::string> names) {
  for (bool watched = false;; watched = true) {
    std::sort(names.begin(), names.end(), is_before);
    const auto own = std::lower_bound(names.begin(), names.end(), name, is_before);
    if (own == names.begin()) return watched;
    bool fired = false;
    bare::Answer before;
    bare::Answer mine;
    client.read_watched(path + "/" + *(own - 1), fired, before);
    if (!watched) client.read(path + "/" + name, true, mine);
    const bool there = client.await_node(before, "cannot watch");
    if (!watched) client.await(mine, "cannot read");
    while (there && !fired) client.turn(true);
    // A single holder was before us, so we need no list to know that it is our turn.
    if (there && own - 1 == names.begin()) return true;
    bare::Answer listed;
    client.children(path, listed);
    client.await(listed, "cannot list");
    names = std::move(listed.names);
  }
}

void run_true() {
  char name[] = "true";
  char* const words[] = {name, nullptr};
  pid_t pid = 0;
  if (posix_spawnp(&pid, name, nullptr, nullptr, words, environ) != 0) bare::die("cannot start true");
  int status = 0;
  waitpid(pid, &status, 0);
}

}  // namespace

bool bare::lock(const Words& words) {
  if (words.size() != 1) return false;
  const std::string& path = words[0];
  Client client;
  Answer created;
  Answer listed;
  client.create(path + "/_c_00000000-0000-4000-8000-000000000000-lock-",
                R"({"host":"host","pid":1,"user":"user","command":"true","since":"2000-01-01T00:00:00Z"})",
                ZOO_EPHEMERAL | ZOO_SEQUENCE, created);
  client.children(path, listed);
  client.await(created, "cannot create");
  client.await(listed, "cannot list");
  const std::string name = created.data.substr(created.data.rfind('/') + 1);
  const bool watched = wait_for_turn(client, path, name, listed.names);

  Answer read;
  if (!watched) client.read(path + "/" + name, true, read);
  run_true();
  Answer removed;
  client.remove(path + "/" + name, removed);
  client.end_behind(removed, "cannot remove");
  return true;
}
