// SPDX-License-Identifier: Apache-2.0
// Takes items out of a queue under claims: finds the next items, makes an ephemeral child `claim` of each, and reads
// each at the same time. A second batch of claims can be on its way while the items of the first are worked on. A batch
// is one transaction, which fails as a whole if another consumer takes one of its items. Then they are claimed one by
// one, and for a while the consumer checks that items are free before it claims them. A single item is claimed together
// with looks at the next ones, unless others were seen to work on items. All functions throw what the session throws,
// and a Failure if the queue may not be read or written.
#pragma once

#include "recipe/queue/finder.h"
#include "recipe/queue/in_work.h"
#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <deque>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace zklock::recipe {

class Consumer {
 public:
  // `note` is written on the claims as it is.
  Consumer(zk::Session& session, QueueLayout layout, std::string note)
      : session_(session), finder_(session, std::move(layout)), note_(std::move(note)) {}

  // From now on, begin() leaves out items that are surely in work (see InWork). For a caller that waits, and sooner or
  // later looks at those too. Otherwise, begin() has looked at every item when it returns false.
  void remember_work() { remembers_ = true; }
  InWork& in_work() { return in_work_; }
  // True if the item is ours, or is known to be another consumer's.
  bool accounts_for(const std::string& path) const { return finder_.is_ours(path) || in_work_.knows(path); }
  // Reads the Stats of these items and returns the free ones. It notes that those with a claim are in work.
  std::vector<std::string> those_free(const std::vector<std::string>& paths);
  // Reads the claims of the items that seemed to be in work and whose children have changed since the last such look.
  // Removes a claim that is in no session. An item whose child is no claim is left out from now on, because it could
  // not be removed. Returns false if no item has become free.
  bool free_left();
  // Leaves out an item that has children and no claim.
  void leave_out(const std::string& path);

  // Makes the next begin() use this list of the items' segments (FoundQueue::lists, the first), which is new.
  void begin_with(const FoundQueue& found) { finder_.restart_with(found); }

  // Sends claims on up to `most` items that look free, in one transaction with the steps in `with`. Returns false if
  // there are none. It is certain that there are none only if no batch is on its way and no item of ours is left in the
  // queue: behind a batch, it asks for lists ahead, and rarely waits for them.
  bool begin(size_t most, const std::vector<zk::Step>& with = {});
  // The same for the first free one of these items. If it is only one, it is not looked at first.
  bool begin_among(const std::vector<std::string>& paths, const std::vector<zk::Step>& with);
  // Waits for the batch that was sent first (there must be one) and returns its items that are ours. There may be none:
  // other consumers were faster.
  std::vector<Item> collect();
  // True if there is such a batch and its answers are here, or lost with the connection.
  bool is_answered() const;
  // True if collect() has given an item back because it could not be removed.
  bool gave_back() const { return gave_back_; }
  size_t batches() const { return batches_.size(); }
  // Returns true if no other client was in our way lately.
  bool is_alone() const { return crowd_ == 0; }
  // How many items are in these batches.
  size_t underway() const;
  // After a begin() that has returned false: true if other consumers work on items.
  bool some_in_work() const { return finder_.found_any(); }

  // Returns those of `items` whose claims a quorum has confirmed now, with a new `proved`.
  std::vector<Item> confirm(std::vector<Item> items);
  // Returns for each of these items whether it is under a claim of this session. It reads the claims after a barrier,
  // so it also sees a claim whose answer was lost.
  std::vector<bool> holds(const std::vector<std::string>& paths);

  // For cleaning up: waits for the batches on their way, until `until` at most, and returns the items that they have
  // claimed. Throws only what other sources of the loop throw.
  std::vector<Item> settle(Deadline until);

  // Forgets an item that is no longer ours.
  void forget(const std::string& path) { finder_.forget(path); }
  // Forgets all items. To be called when the session is over.
  void forget_all();

 private:
  // A claim that was sent, and the read of its item.
  struct Claim {
    std::string path;
    zk::Call made;
    zk::Call read;
    bool ours = false;  // known to be ours
  };
  // A look at an item that was sent behind a claim.
  struct Look {
    std::string path;
    zk::Call call;
  };
  struct ClaimBatch {
    std::vector<Claim> claims;
    std::vector<Look> looks;
    bool together = false;   // in one transaction
    bool with_more = false;  // together with other steps
    bool looked = false;     // the items were seen to be free before
    Deadline sent{};         // what its answers prove: see Session::proof_now()
  };

  void look_afresh(bool synced);
  void give_back(const std::string& path, const std::string& data);
  void leave_out_strays(const std::vector<std::string>& items);
  void suspect(const std::string& path, int64_t changed);
  void note_others(bool looked);
  void give_way();
  std::vector<std::string> find_free(size_t most);
  std::vector<std::string> free_among(const std::vector<std::string>& paths, const std::vector<zk::Answer>& looks);
  bool sees_others() const { return sees_others_ || saw_others_ || !in_work_.empty(); }
  bool is_worth_a_look(const std::string& path);
  void send_first(std::vector<std::string> paths, size_t most, const std::vector<zk::Step>& with, bool looked);
  void send(const std::vector<std::string>& paths, const std::vector<zk::Step>& with, bool looked);
  Claim claim(const std::string& path);
  void await_claims(ClaimBatch& batch);
  void find_out(ClaimBatch& batch);
  void try_again(ClaimBatch& batch);
  std::vector<Item> read_items(ClaimBatch& batch);
  void take_looks(const ClaimBatch& batch);
  void read_again(ClaimBatch& batch);
  Item item_of(const Claim& claim, zk::Answer answer, Deadline sent) const;

  zk::Session& session_;
  ItemFinder finder_;
  std::string note_;
  bool remembers_ = false;
  InWork in_work_;
  // The Stat::child_changed of items with a child: of those whose child was not read yet, and of the others when it
  // was.
  std::map<std::string, int64_t> suspects_;
  std::unordered_map<std::string, int64_t> examined_;
  bool gave_back_ = false;
  // Looks have found items in others' work, in this pass or in the one before it.
  bool sees_others_ = false;
  bool saw_others_ = false;
  size_t looks_left_ = 0;         // how many items that are InWork::is_old() may still be looked at in this pass
  std::deque<std::string> free_;  // items seen to be free in this pass, in order
  std::deque<ClaimBatch> batches_;
  // How much other consumers were in our way lately; 0: we are alone. From kCrowd on, we begin at a random place behind
  // the first items and claim fewer at a time. Otherwise, all consumers would look at, and claim, the same items. A
  // consumer that is alone always keeps the order.
  size_t crowd_ = 0;
  std::minstd_rand random_{std::random_device()()};
};

}  // namespace zklock::recipe
