// SPDX-License-Identifier: Apache-2.0
// host/streams: no byte is lost, whatever turns the loop; and an output without a reader.
#include "host/streams.h"

#include "host/fd.h"
#include "host/loop.h"
#include "support/process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace streams_test {

using namespace std::chrono_literals;

constexpr size_t kPiece = 64 * 1024;

class InputTest : public testing::Test {
 protected:
  InputTest() {
    int ends[2];
    if (pipe(ends) != 0) ADD_FAILURE() << "no pipe";
    reader_ = Fd(ends[0]);
    writer_ = Fd(ends[1]);
    input_.emplace(reader_.get());
    loop_.add(*input_);
    input_->want(true);
  }

  void put(const std::string& text) const {
    EXPECT_EQ(write(writer_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Turns the loop as a wait for something else does.
  void turn(int times = 1) {
    for (int i = 0; i < times; ++i) loop_.turn(deadline_in(1ms));
  }

  Fd reader_;
  Fd writer_;
  Loop loop_;
  std::optional<StandardInput> input_;
};

TEST_F(InputTest, WhatWasReadStaysUntilItIsTaken) {
  put("one ");
  turn();
  put("two ");
  turn(3);
  EXPECT_TRUE(input_->is_dry());
  EXPECT_EQ(input_->take(), "one two ");
  EXPECT_EQ(input_->take(), "");
  EXPECT_EQ(input_->count(), 8);
}

TEST_F(InputTest, TheEndTakesNothingAway) {
  put("last");
  turn();
  writer_.reset();
  turn(2);
  EXPECT_TRUE(input_->is_ended());
  EXPECT_FALSE(input_->is_wanted());
  EXPECT_EQ(input_->take(), "last");
}

TEST_F(InputTest, WhileAPieceIsNotTakenNoMoreIsRead) {
  const std::string piece(kPiece, 'x');
  put(piece);
  turn();
  put("more");
  turn(3);
  EXPECT_FALSE(input_->is_dry());
  EXPECT_EQ(input_->count(), static_cast<int64_t>(kPiece));
  EXPECT_EQ(input_->take(), piece);
  turn();
  EXPECT_EQ(input_->take(), "more");
}

TEST_F(InputTest, WhatIsNotWantedIsNotRead) {
  put("text");
  turn();
  input_->want(false);
  put(" and more");
  turn(2);
  EXPECT_EQ(input_->take(), "text");
  input_->want(true);
  turn();
  EXPECT_EQ(input_->take(), " and more");
}

// Reads the input before other sources do.
class Faster : public Source {
 public:
  explicit Faster(int fd) : fd_(fd) {}
  void arm(PollSet&) override {}
  void record(const PollSet&) override {
    char bytes[16];
    static_cast<void>(!read(fd_, bytes, sizeof bytes));
  }
  void decide() override {}

 private:
  int fd_;
};

TEST_F(InputTest, SomebodyFasterIsNoEnd) {
  fcntl(reader_.get(), F_SETFL, O_NONBLOCK);
  loop_.remove(*input_);
  Faster faster(reader_.get());
  {
    const Attached before(loop_, faster);
    const Attached reading(loop_, *input_);
    put("gone");
    turn();
  }
  EXPECT_FALSE(input_->is_ended());
  loop_.add(*input_);
  put("kept");
  turn();
  EXPECT_EQ(input_->take(), "kept");
}

TEST_F(InputTest, AnErrorIsAnEnd) {
  const Fd opened(open(".", O_RDONLY | O_CLOEXEC));
  StandardInput folder(opened.get());
  const Attached reading(loop_, folder);
  folder.want(true);
  turn();
  EXPECT_TRUE(folder.is_ended());
  EXPECT_EQ(folder.error(), EISDIR);
}

// Replaces standard output, while it exists, by a pipe whose reader has gone.
class OutputWithoutReader {
 public:
  OutputWithoutReader() {
    ::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (pipe(ends) != 0) ADD_FAILURE() << "no pipe";
    close(ends[0]);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
  }
  ~OutputWithoutReader() { dup2(before_.get(), STDOUT_FILENO); }

 private:
  Fd before_{dup(STDOUT_FILENO)};
};

ISOLATED_TEST(Output, AReaderWhoIsGoneIsFoundByWritingAsASignal) {
  std::optional<Failure> failure;
  {
    const OutputWithoutReader broken;
    StandardOutput output;
    failure = support::failure_of([&] { output.write("x"); });
  }
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->signal(), SIGPIPE);
}

// A socket whose other end was closed shows only POLLHUP.
ISOLATED_TEST(Output, AClosedSocketEndsTheWait) {
  std::optional<Failure> failure;
  {
    const Fd before(dup(STDOUT_FILENO));
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    close(ends[0]);
    Loop loop;
    StandardOutput output;
    const Attached writing(loop, output);
    failure = support::failure_of([&] { loop.turn(deadline_in(std::chrono::seconds(5))); });
    dup2(before.get(), STDOUT_FILENO);
  }
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->signal(), SIGPIPE);
}

}  // namespace streams_test
}  // namespace zklock::host
