// SPDX-License-Identifier: Apache-2.0
// znode VERB PATH [DATA]: reads and changes nodes behind zklock's back; "/" is the chroot of ZKLOCK_SERVERS.
//
//   ls | get | stat | acl     print; stat as NAME=NUMBER lines
//   create PATH [DATA]        makes it and the nodes above it; more pairs of PATH and DATA may follow
//   set PATH DATA | rm        rm removes all below it too
//   allow PATH LETTERS        lets any client do so much with it, as in "rwcda"
//   stand PATH [DATA]         makes an ephemeral sequential node and the nodes above it, and prints its path; stays
//                             until it gets TERM
//   hold PATH [DATA]          does the same for an ephemeral node of just that name, but makes no nodes above it
//   claim QUEUE               makes an ephemeral `claim` on every item, and prints how many; stays until it gets TERM,
//                             or for a minute without a server
//
// Ends with 1 if there is no such node, and with 70 after any other error.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <zookeeper/zookeeper.h>

namespace {

struct Result {
  bool done = false;
  int code = ZOK;
  std::string text;
  std::vector<std::string> names;
  Stat stat{};
  std::string acl;
};

volatile sig_atomic_t terminated = 0;

Result* result_of(const void* data) {
  return const_cast<Result*>(static_cast<const Result*>(data));
}

void on_void(int code, const void* data) {
  result_of(data)->code = code;
  result_of(data)->done = true;
}

void on_string(int code, const char* text, const void* data) {
  if (code == ZOK) result_of(data)->text = text;
  on_void(code, data);
}

void on_stat(int code, const Stat* stat, const void* data) {
  if (code == ZOK) result_of(data)->stat = *stat;
  on_void(code, data);
}

void on_data(int code, const char* value, int length, const Stat* stat, const void* data) {
  if (code == ZOK && length > 0) result_of(data)->text.assign(value, static_cast<size_t>(length));
  on_stat(code, stat, data);
}

void on_children(int code, const String_vector* names, const void* data) {
  if (code == ZOK) result_of(data)->names.assign(names->data, names->data + names->count);
  on_void(code, data);
}

void on_acl(int code, ACL_vector* acl, Stat* stat, const void* data) {
  for (int i = 0; code == ZOK && i < acl->count; ++i) {
    const ACL& entry = acl->data[i];
    const std::string id = entry.id.id;
    result_of(data)->acl +=
        std::string(entry.id.scheme) + ":" + id.substr(0, id.find(':')) + ":" + std::to_string(entry.perms) + "\n";
  }
  on_stat(code, stat, data);
}

void turn(zhandle_t* handle) {
  int fd = -1;
  int interest = 0;
  timeval wait{};
  zookeeper_interest(handle, &fd, &interest, &wait);
  pollfd poll_fd{fd, 0, 0};
  if (interest & ZOOKEEPER_READ) poll_fd.events |= POLLIN;
  if (interest & ZOOKEEPER_WRITE) poll_fd.events |= POLLOUT;
  const long milliseconds = wait.tv_sec * 1000 + wait.tv_usec / 1000;
  poll(&poll_fd, fd < 0 ? 0 : 1, static_cast<int>(std::clamp(milliseconds, 1L, 1000L)));
  int events = 0;
  if (poll_fd.revents & (POLLIN | POLLHUP | POLLERR)) events |= ZOOKEEPER_READ;
  if (poll_fd.revents & POLLOUT) events |= ZOOKEEPER_WRITE;
  zookeeper_process(handle, events);
  if (is_unrecoverable(handle)) {
    std::fprintf(stderr, "znode: the session is over\n");
    std::exit(70);
  }
}

template <typename Ask>
Result ask(zhandle_t* handle, Ask submit) {
  Result result;
  result.code = submit(&result);
  if (result.code != ZOK) return result;
  while (!result.done) turn(handle);
  return result;
}

Result create(zhandle_t* handle, const std::string& path, const std::string& data, int flags) {
  return ask(handle, [&](Result* result) {
    return zoo_acreate(handle, path.c_str(), data.data(), static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE, flags,
                       on_string, result);
  });
}

Result create_all(zhandle_t* handle, const std::string& path, const std::string& data) {
  Result made = create(handle, path, data, 0);
  if (made.code != ZNONODE) return made;
  const std::string parent = path.substr(0, path.rfind('/'));
  made = create_all(handle, parent.empty() ? "/" : parent, "");
  return made.code == ZOK || made.code == ZNODEEXISTS ? create(handle, path, data, 0) : made;
}

Result children(zhandle_t* handle, const std::string& path) {
  return ask(handle, [&](Result* result) { return zoo_aget_children(handle, path.c_str(), 0, on_children, result); });
}

Result remove_all(zhandle_t* handle, const std::string& path) {
  for (const std::string& name : children(handle, path).names) remove_all(handle, path + "/" + name);
  return ask(handle, [&](Result* result) { return zoo_adelete(handle, path.c_str(), -1, on_void, result); });
}

Result allow(zhandle_t* handle, const std::string& path, const std::string& letters) {
  const std::string known = "rwcda";  // from the lowest bit on
  int32_t rights = 0;
  for (const char letter : letters) rights |= 1 << known.find(letter);
  ACL anyone = {rights, ZOO_ANYONE_ID_UNSAFE};
  ACL_vector acl = {1, &anyone};
  return ask(handle, [&](Result* result) { return zoo_aset_acl(handle, path.c_str(), -1, &acl, on_void, result); });
}

// Sets `text` to the number of claims.
Result claim_all(zhandle_t* handle, const std::string& queue) {
  size_t count = 0;
  for (const std::string& segment : children(handle, queue + "/items").names) {
    const std::string folder = queue + "/items/" + segment;
    const std::vector<std::string> items = children(handle, folder).names;
    std::vector<Result> results(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string path = folder + "/" + items[i] + "/claim";
      const int code =
          zoo_acreate(handle, path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_string, &results[i]);
      if (code != ZOK) return {true, code, "", {}, {}, ""};
    }
    for (const Result& result : results) {
      while (!result.done) turn(handle);
      if (result.code != ZOK) return result;
    }
    count += items.size();
  }
  return {true, ZOK, std::to_string(count), {}, {}, ""};
}

// Makes the chroot by a second handle without one, because the C client cannot make its own.
void make_chroot(const std::string& servers) {
  const size_t slash = servers.find('/');
  if (slash == std::string::npos) return;
  zhandle_t* handle = zookeeper_init(servers.substr(0, slash).c_str(), nullptr, 10000, nullptr, nullptr, 0);
  create_all(handle, servers.substr(slash), "");
  zookeeper_close(handle);
}

// Makes the nodes of the pairs of path and data in `words`, up to the first failure.
Result create_each(zhandle_t* handle, const std::vector<std::string>& words) {
  Result made;
  for (size_t i = 0; i < words.size() && made.code == ZOK; i += 2) {
    made = create_all(handle, words[i], i + 1 < words.size() ? words[i + 1] : "");
  }
  return made;
}

Result act(zhandle_t* handle, const std::string& verb, const std::string& path, const std::string& data) {
  if (verb == "ls") return children(handle, path);
  if (verb == "stand") {
    create_all(handle, path.substr(0, path.rfind('/')), "");
    return create(handle, path, data, ZOO_EPHEMERAL | ZOO_SEQUENCE);
  }
  if (verb == "hold") return create(handle, path, data, ZOO_EPHEMERAL);
  if (verb == "claim") return claim_all(handle, path);
  if (verb == "rm") return remove_all(handle, path);
  if (verb == "acl") {
    return ask(handle, [&](Result* result) { return zoo_aget_acl(handle, path.c_str(), on_acl, result); });
  }
  if (verb == "allow") return allow(handle, path, data);
  if (verb == "set") {
    const int size = static_cast<int>(data.size());
    return ask(handle,
               [&](Result* result) { return zoo_aset(handle, path.c_str(), data.data(), size, -1, on_stat, result); });
  }
  if (verb == "get" || verb == "stat") {
    return ask(handle, [&](Result* result) { return zoo_aget(handle, path.c_str(), 0, on_data, result); });
  }
  std::fprintf(stderr, "znode: unknown verb '%s'\n", verb.c_str());
  std::exit(64);
}

void print(const std::string& verb, Result result) {
  std::sort(result.names.begin(), result.names.end());
  for (const std::string& name : result.names) std::printf("%s\n", name.c_str());
  if (verb == "get" || verb == "stand" || verb == "hold" || verb == "claim") std::printf("%s\n", result.text.c_str());
  if (verb == "acl") std::printf("%s", result.acl.c_str());
  if (verb != "stat") return;
  std::printf("czxid=%lld\nctime=%lld\nmtime=%lld\nversion=%d\nephemeralOwner=%lld\ncversion=%d\nnumChildren=%d\n",
              static_cast<long long>(result.stat.czxid), static_cast<long long>(result.stat.ctime),
              static_cast<long long>(result.stat.mtime), result.stat.version,
              static_cast<long long>(result.stat.ephemeralOwner), result.stat.cversion, result.stat.numChildren);
}

// Returns ZKLOCK_SERVERS. If those want TLS, which the library does not speak: their plain ports with the same chroot.
std::string servers_given() {
  const char* given = std::getenv("ZKLOCK_SERVERS");
  const char* plain = std::getenv("ZKLOCK_PLAIN_SERVERS");
  if (!given) std::exit(64);
  const std::string servers = given;
  if (!plain) return servers;
  const std::string scheme = "tls://";
  const size_t slash = servers.find('/', servers.starts_with(scheme) ? scheme.size() : 0);
  return slash == servers.npos ? plain : plain + servers.substr(slash);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  const std::string servers = servers_given();
  const std::string verb = argv[1];
  const std::string path = argv[2];
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  // A test that sees the node may send TERM before the answer is here.
  const bool stays = verb == "stand" || verb == "hold" || verb == "claim";
  if (stays) std::signal(SIGTERM, [](int) { terminated = 1; });
  if (verb == "create" || verb == "stand") make_chroot(servers);
  zhandle_t* handle = zookeeper_init(servers.c_str(), nullptr, verb == "claim" ? 60000 : 10000, nullptr, nullptr, 0);
  if (!handle) return 70;
  const Result result = verb == "create" ? create_each(handle, {argv + 2, argv + argc})
                                         : act(handle, verb, path, argc > 3 ? argv[3] : "");
  if (result.code == ZOK) print(verb, result);
  std::fflush(stdout);
  while (stays && result.code == ZOK && !terminated) turn(handle);
  zookeeper_close(handle);
  if (result.code == ZOK) return 0;
  if (result.code == ZNONODE) return 1;
  std::fprintf(stderr, "znode: %s %s: %s\n", verb.c_str(), path.c_str(), zerror(result.code));
  return 70;
}
