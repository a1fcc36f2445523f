// SPDX-License-Identifier: Apache-2.0
// The open segment of a priority: the last one below a queue's items or dead, where new items go.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <algorithm>
#include <string>

namespace zklock::recipe {

class QueueTail {
 public:
  // `folder` is the items or the dead of a queue. `tried` is for messages: "cannot push to /q".
  QueueTail(zk::Session& session, std::string folder, int priority, std::string tried)
      : session_(session), folder_(std::move(folder)), tried_(std::move(tried)), segment_{priority, 0} {}

  // Looks for it, and makes it where there is none. False if the session is expired. Throws a Failure for what has no
  // way round, and what the session throws.
  bool find(Deadline until);

  // The rest counts along from there; who relies on it checks the segment's version 0 in the same transaction.
  const Segment& segment() const { return segment_; }
  std::string path() const { return segment_path(folder_, segment_); }
  const std::string& token() const { return token_; }  // for the names of items in this segment

  // So many items more are on their way into it: are these the ones that fill it?
  bool is_filled_by(int64_t items) const { return made_ + items >= kSegmentSize; }
  void count(int64_t items) { made_ += items; }
  // At least so many were ever made in it, those on their way among them.
  void note_made(int64_t made) { made_ = std::max(made_, made); }
  // It is sealed by what is on its way.
  void advance();

 private:
  bool open(const Segment& segment, int folder_version, Deadline until);

  zk::Session& session_;
  std::string folder_;
  std::string tried_;
  Segment segment_;
  std::string token_ = make_token();
  int64_t made_ = 0;
};

}  // namespace zklock::recipe
