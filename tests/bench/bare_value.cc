// SPDX-License-Identifier: Apache-2.0
// bare value VERB PATH [DATA]: the least cost of `zklock value`, by the C client alone.
//
//   get PATH                   like `zklock value get`: a sync, the read and the end of the session in one flight
//   set PATH DATA              writes an existing node and ends the session in one flight, without the look of
//                              `zklock value set`, which is another one
//   list PATH                  the names, sorted, without the sync of `zklock value list`
//   fill PATH N                N children named 00000 and so on
//   watch PATH                 a line for each value that it sees
//   feed PATH                  writes each line of standard input
#include "bare.h"
#include "bare_client.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kBatch = 1000;

void get(bare::Client& client, const std::string& path) {
  bare::Answer synced;
  bare::Answer read;
  client.sync(path, synced);
  client.read(path, false, read);
  client.end_behind(read, "cannot read");
  std::fwrite(read.data.data(), 1, read.data.size(), stdout);
}

void set(bare::Client& client, const std::string& path, const std::string& data) {
  bare::Answer written;
  client.write(path, data, written);
  client.end_behind(written, "cannot write");
}

void list(bare::Client& client, const std::string& path) {
  bare::Answer listed;
  client.children(path, listed);
  client.await(listed, "cannot list");
  std::sort(listed.names.begin(), listed.names.end());
  for (const std::string& name : listed.names) std::printf("%s\n", name.c_str());
}

void fill(bare::Client& client, const std::string& path, int count) {
  for (int first = 0; first < count; first += kBatch) {
    for (int i = first; i < std::min(first + kBatch, count); ++i) {
      char name[16];
      std::snprintf(name, sizeof name, "/%05d", i);
      client.add_create(path + name, "", 0);
    }
    bare::Answer made;
    client.transact(made);
    client.await(made, "cannot create");
  }
}

void watch(bare::Client& client, const std::string& path) {
  for (;;) {
    bool fired = false;
    bare::Answer read;
    client.read_watched(path, fired, read);
    client.await(read, "cannot read");
    std::printf("%s\n", read.data.c_str());
    std::fflush(stdout);
    while (!fired) client.turn(true);
  }
}

void feed(bare::Client& client, const std::string& path) {
  for (std::string line; bare::next_line(line);) {
    bare::Answer written;
    client.write(path, line, written);
    client.await(written, "cannot write");
  }
}

bool is_known(const std::string& verb, bool with_data) {
  if (with_data) return verb == "set" || verb == "fill";
  return verb == "get" || verb == "list" || verb == "watch" || verb == "feed";
}

}  // namespace

bool bare::value(const Words& words) {
  if (words.size() < 2 || words.size() > 3 || !is_known(words[0], words.size() == 3)) return false;
  const std::string& verb = words[0];
  const std::string& path = words[1];
  Client client;
  if (verb == "get") get(client, path);
  if (verb == "set") set(client, path, words[2]);
  if (verb == "list") list(client, path);
  if (verb == "fill") fill(client, path, std::atoi(words[2].c_str()));
  if (verb == "watch") watch(client, path);
  if (verb == "feed") feed(client, path);
  return true;
}
