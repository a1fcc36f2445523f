// SPDX-License-Identifier: Apache-2.0
#include "support/sandbox.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

namespace zklock::test {

using namespace std::chrono_literals;

namespace {

// Waits as long as the Bats files, which wait longer under sanitizers.
Duration patience() {
  const char* seconds = std::getenv("ZKLOCK_TEST_WAIT");
  return seconds ? std::chrono::seconds(std::atoi(seconds)) : 20s;
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "re"), pclose);
  std::string output;
  char part[512];
  while (pipe && std::fgets(part, sizeof part, pipe.get())) output += part;
  while (output.ends_with('\n')) output.pop_back();
  return output;
}

const std::string kScript = ZKLOCK_SOURCE_DIR "/scripts/zk-sandbox";

std::string value_of(const std::string& lines, const std::string& name) {
  const size_t at = lines.find(name + "=");
  if (at == lines.npos) throw std::runtime_error("zk-sandbox printed: " + lines);
  const size_t from = at + name.size() + 1;
  std::string value = lines.substr(from, lines.find('\n', from) - from);
  std::erase(value, '\\');  // quoted for a shell
  return value;
}

}  // namespace

Sandbox::Sandbox(const std::string& options) {
  const std::string lines = output_of(fmt::format("'{}' start {}", kScript, options));
  servers_ = value_of(lines, "ZKLOCK_SERVERS");
  folder_ = value_of(lines, "ZKLOCK_SANDBOX");
}

Sandbox::~Sandbox() {
  output_of(fmt::format("'{}' stop '{}'", kScript, folder_));
}

std::string Sandbox::data_folder(int server) const {
  return fmt::format("{}/{}/data/version-2", folder_, server);
}

std::string Sandbox::output(const std::string& verb, int server) const {
  return output_of(
      fmt::format("ZKLOCK_SANDBOX='{}' '{}' {} {}", folder_, kScript, verb, server ? std::to_string(server) : ""));
}

std::string shared_servers() {
  const char* servers = std::getenv("ZKLOCK_SERVERS");
  if (!servers) throw std::runtime_error("ZKLOCK_SERVERS is not set: run by scripts/zk-sandbox -- …");
  return servers;
}

std::string new_chroot() {
  std::random_device random;
  return fmt::format("/t{:08x}{:08x}", random(), random());
}

zk::SessionOptions options_for(const std::string& servers, Duration session_timeout) {
  zk::SessionOptions options;
  options.servers = zk::ServerList::parse(servers, "the test");
  options.session_timeout = session_timeout;
  options.connect_timeout = patience();
  return options;
}

Observer::Observer(const std::string& servers) : session_(loop_, options_for(servers, 30s)) {
  session_.open();
}

std::vector<std::string> Observer::children(const std::string& path) {
  return session_.synced_children(path).names;
}

zk::Answer Observer::read(const std::string& path) {
  session_.synced_children(path);
  return session_.read(path);
}

void Observer::create(const std::string& path, const std::string& data) {
  const std::string parent = path.substr(0, path.rfind('/'));
  if (!parent.empty()) session_.make_node(parent, zk::CreateMode::persistent);
  if (parent.empty()) session_.make_node(path + "x", zk::CreateMode::persistent);
  session_.await(session_.client().create(path, data, zk::CreateMode::persistent));
}

void Observer::write(const std::string& path, const std::string& data) {
  session_.await(session_.client().write(path, data));
}

void Observer::remove(const std::string& path) {
  session_.await(session_.client().remove(path));
}

bool eventually(host::Loop& loop, const std::function<bool()>& fact) {
  const Deadline until = deadline_in(patience());
  while (!fact()) {
    if (left_until(until) == Duration::zero()) return false;
    loop.turn(std::min(until, deadline_in(20ms)));
  }
  return true;
}

}  // namespace zklock::test
