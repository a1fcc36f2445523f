// SPDX-License-Identifier: Apache-2.0
// Reads what a server sends: a byte for the request, then the frame. The C library believes lengths and counts, so an
// accepted frame must be one that it reads to its end.
#include "fuzz/fuzz.h"
#include "zk/wire.h"

#include <zookeeper/zookeeper.jute.h>

using namespace zklock;
using fuzz::check;
using zk::Op;

namespace {

constexpr uint8_t kHandshakes = 2;
constexpr uint8_t kOps = static_cast<uint8_t>(Op::transaction) + 1;

// The library's archive over a copy of the bytes.
class Archive {
 public:
  explicit Archive(std::string_view frame)
      : bytes_(frame), archive_(create_buffer_iarchive(bytes_.data(), static_cast<int>(bytes_.size()))) {}
  Archive(const Archive&) = delete;
  ~Archive() { close_buffer_iarchive(&archive_); }

  template <typename Record>
  Record take(int (*read)(iarchive*, const char*, Record*)) {
    Record record{};
    check(read(archive_, "", &record) == 0, "what fits can be read", bytes_);
    return record;
  }
  template <typename Record>
  void pass(int (*read)(iarchive*, const char*, Record*), void (*release)(Record*)) {
    Record record = take(read);
    release(&record);
  }

 private:
  std::string bytes_;
  iarchive* archive_;
};

void read_results(Archive& in, const std::vector<zk::Step>& steps) {
  for (const zk::Step& step : steps) {
    const MultiHeader header = in.take(deserialize_MultiHeader);
    check(!header.done, "each step has its result");
    if (header.type == -1) {
      in.pass(deserialize_ErrorResponse, deallocate_ErrorResponse);
    } else if (step.kind == Op::create) {
      in.pass(deserialize_CreateResponse, deallocate_CreateResponse);
    } else if (step.kind == Op::write) {
      in.pass(deserialize_SetDataResponse, deallocate_SetDataResponse);
    }
  }
  check(in.take(deserialize_MultiHeader).done, "and no other has one");
}

void read_answer(Archive& in, const zk::Request& asked) {
  switch (asked.op) {
    case Op::create: return in.pass(deserialize_CreateResponse, deallocate_CreateResponse);
    case Op::create_with_stat: return in.pass(deserialize_Create2Response, deallocate_Create2Response);
    case Op::exists:
    case Op::write: return in.pass(deserialize_SetDataResponse, deallocate_SetDataResponse);
    case Op::read: return in.pass(deserialize_GetDataResponse, deallocate_GetDataResponse);
    case Op::children: return in.pass(deserialize_GetChildren2Response, deallocate_GetChildren2Response);
    case Op::sync: return in.pass(deserialize_SyncResponse, deallocate_SyncResponse);
    case Op::check:
    case Op::transaction: return read_results(in, asked.steps);
    case Op::remove: return;
  }
}

void read_frame(std::string_view frame, const zk::Request* asked) {
  Archive in(frame);
  const ReplyHeader header = in.take(deserialize_ReplyHeader);
  if (header.xid == -1) return in.pass(deserialize_WatcherEvent, deallocate_WatcherEvent);
  const bool needs_none = header.xid == -2 || header.xid == -4 || header.xid == -8;
  if (needs_none) return;
  check(asked, "an answer is one to something", frame);
  if (header.err == 0) read_answer(in, *asked);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const uint8_t which = data[0] % (kHandshakes + kOps);
  const std::string_view frame = fuzz::text_of(data + 1, size - 1);
  zk::stranger(frame);
  if (which < kHandshakes) {
    if (zk::is_handshake(frame, which == 1))
      Archive(frame).pass(deserialize_ConnectResponse, deallocate_ConnectResponse);
    return 0;
  }
  zk::Request asked{static_cast<Op>(which - kHandshakes), "/l/n-", 0, {}};
  if (asked.op == Op::check) asked.steps = {{Op::check, "/l"}, {Op::check, "/m"}};
  if (asked.op == Op::transaction) {
    asked.steps = {{Op::check, "/l"}, {Op::create, "/l/n-"}, {Op::write, "/l"}, {Op::remove, "/l/m"}};
  }
  if (zk::fits(frame, &asked, false)) read_frame(frame, &asked);
  check(!zk::fits(frame, nullptr, true) || frame[0] == '\xff', "who asked for nothing gets none", frame);
  return 0;
}
