// SPDX-License-Identifier: Apache-2.0
// A line and slots whose counter is used up. No test can make two billion children, so the server starts from a
// transaction log in which they were made.
#include "recipe/lock/lock.h"
#include "recipe/lock/slots.h"
#include "support/sandbox.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace used_up_test {

using namespace std::chrono_literals;

// Writes Jute: big-endian numbers, and strings after their length.
class Jute {
 public:
  template <typename Number>
  Jute& add(Number number) {
    for (size_t i = sizeof number; i-- > 0;) bytes_ += static_cast<char>(static_cast<uint64_t>(number) >> (8 * i));
    return *this;
  }
  Jute& add(const std::string& text) {
    add(static_cast<int32_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

int64_t adler32(const std::string& bytes) {
  uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<unsigned char>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return static_cast<int64_t>(b << 16 | a);
}

// Returns a transaction that makes `path` and sets its parent's counter to `parent_counter`.
std::string create_transaction(int64_t zxid, const std::string& path, int32_t parent_counter) {
  constexpr int32_t kCreate = 1, kAllPermissions = 31;
  Jute txn;
  txn.add(int64_t{1}).add(int32_t{1}).add(zxid).add(int64_t{1}).add(kCreate);
  txn.add(path).add(std::string()).add(int32_t{1}).add(kAllPermissions).add(std::string("world"));
  txn.add(std::string("anyone")).add(int8_t{0}).add(parent_counter);
  Jute entry;
  entry.add(adler32(txn.bytes())).add(txn.bytes()).add('B');
  return entry.bytes();
}

TEST(UsedUpLine, IsRefusedAndLeavesNoNode) {
  test::Sandbox sandbox("--tick 250 --java-property zookeeper.snapshot.trust.empty=true");
  sandbox.kill(1);
  const std::filesystem::path data = sandbox.data_folder(1);
  std::filesystem::remove_all(data);
  std::filesystem::create_directories(data);
  std::ofstream log(data / "log.1", std::ios::binary);
  log << Jute().add(int32_t{0x5a4b4c47}).add(int32_t{2}).add(int64_t{0}).bytes();  // "ZKLG", version, database
  log << create_transaction(1, "/l", 1);
  log << create_transaction(2, "/l/counted", 2147483647);
  log << create_transaction(3, "/s", 2);
  log << create_transaction(4, "/s/leases", 1);
  log << create_transaction(5, "/s/leases/counted", 2147483647);
  log.close();
  sandbox.restart(1);

  host::Loop loop;
  zk::Session session(loop, test::options_for(sandbox.servers()));
  session.open();
  class : public WaitObserver {
    Deadline next_look() const override { return kNever; }
    void on_holder(const Holder&) override {}
    void on_start_again(bool) override {}
  } nobody;
  for (int i = 0; i < 2; ++i) {
    Lock lock(session, "/l", {}, "", nobody);
    try {
      lock.acquire({false, deadline_in(20s)});
      ADD_FAILURE() << "taken: " << lock.held().node;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), ExitStatus::internal);
      EXPECT_NE(failure.text().find("is used up"), std::string::npos) << failure.text();
    }
    EXPECT_EQ(session.children("/l").names, std::vector<std::string>{"counted"});
  }
  const auto two = [](const std::string&) { return int64_t{2}; };
  Slots slots(session, "/s", 2, two, "", nobody);
  EXPECT_THROW(slots.acquire({false, deadline_in(20s)}), Failure);
  EXPECT_EQ(session.children("/s/leases").names, std::vector<std::string>{"counted"});
}

}  // namespace used_up_test
}  // namespace zklock::recipe
