// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: names are looked up in the file $TEST_HOSTS, "NAME ADDRESS…" a line, as it is now. Other names are
// looked up as usual. A name without an address does not exist; "sleep=SECONDS" in place of one delays the answer.
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <netdb.h>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

using Lookup = int (*)(const char*, const char*, const addrinfo*, addrinfo**);

Lookup real_lookup() {
  static const auto real = reinterpret_cast<Lookup>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return real;
}

// Appends it to the list. freeaddrinfo frees each entry by itself.
int append(const std::string& address, const char* service, const addrinfo* hints, addrinfo** list) {
  while (*list) list = &(*list)->ai_next;
  addrinfo numeric = hints ? *hints : addrinfo{};
  numeric.ai_flags |= AI_NUMERICHOST;
  return real_lookup()(address.c_str(), service, &numeric, list);
}

int answer(std::istringstream& words, const char* service, const addrinfo* hints, addrinfo** list) {
  *list = nullptr;
  for (std::string word; words >> word;) {
    if (word.starts_with("sleep=")) {
      sleep(static_cast<unsigned>(std::atoi(word.c_str() + std::strlen("sleep="))));
    } else if (const int error = append(word, service, hints, list); error != 0) {
      return error;
    }
  }
  return *list ? 0 : EAI_NONAME;
}

}  // namespace

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** list) {
  const char* file = std::getenv("TEST_HOSTS");
  std::ifstream hosts(file ? file : "/dev/null");
  for (std::string line; name && std::getline(hosts, line);) {
    std::istringstream words(line);
    std::string known;
    if (words >> known && known == name) return answer(words, service, hints, list);
  }
  return real_lookup()(name, service, hints, list);
}
