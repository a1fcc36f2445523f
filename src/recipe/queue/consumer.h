// SPDX-License-Identifier: Apache-2.0
// Takes items out of a queue under claims: looks whether the next ones are free, makes an ephemeral child `claim` of
// each, and reads it in the same breath. A second batch of claims can be on its way while the first is being worked on.
// A batch is one transaction as long as nobody else takes items; else, because that would fail whole, it is made one by
// one. All functions throw what the session throws, and a Failure where the queue may not be read or written.
#pragma once

#include "recipe/queue/finder.h"
#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <deque>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace zklock::recipe {

class Consumer {
 public:
  // `note` is put on the claims as it is.
  Consumer(zk::Session& session, QueueLayout layout, std::string note)
      : session_(session), finder_(session, std::move(layout)), note_(std::move(note)) {}

  // From now on it does not look again at items that it is sure others work on (see InWork): for who waits and looks at
  // those too, sooner or later. Else begin() has looked at each when it says that there are none.
  void remember_work() { remembers_ = true; }
  InWork& in_work() { return in_work_; }
  // The item is ours, or is known to be somebody else's.
  bool accounts_for(const std::string& path) const { return finder_.is_ours(path) || in_work_.knows(path); }
  // Looks at each; those with a claim are in work now.
  std::vector<std::string> those_free(const std::vector<std::string>& paths, Deadline until);

  // Sends the claims on up to `most` items that look free. False if there are none: for certain only if no batch is on
  // its way and nothing of ours is left in the queue. `with`: what is done with the claim on the first item, in one
  // transaction. Also false when the session is expired.
  bool begin(size_t most, Deadline until, const std::vector<zk::Step>& with = {});
  // The same, for one of these items.
  bool begin_among(const std::vector<std::string>& paths, Deadline until, const std::vector<zk::Step>& with);
  // What became of the batch sent first. May be empty: others were faster, or the session is expired.
  std::vector<Item> collect(Deadline until);
  size_t batches() const { return batches_.size(); }
  // Items in them.
  size_t underway() const;
  // Of the last begin() that was false: somebody works on items.
  bool some_in_work() const { return finder_.found_any(); }

  // Of the items, those whose claims a quorum knows of now, proved anew.
  std::vector<Item> confirm(std::vector<Item> items, Deadline until);
  // Which of these items are under claims of this session, behind a barrier: a claim whose answer was lost is known
  // then.
  std::vector<bool> holds(const std::vector<std::string>& paths, Deadline until);

  // For cleaning up, within `until`: what was claimed in the batches on their way. Throws nothing but what other
  // sources of the loop throw.
  std::vector<Item> settle(Deadline until);

  // The item is no longer ours.
  void forget(const std::string& path) { finder_.forget(path); }
  // Nothing is ours any more: the session is over.
  void forget_all();

 private:
  // On its way, with a read of the item.
  struct Claim {
    std::string path;
    zk::Call made;
    zk::Call read;
    bool ours = false;  // for certain
  };
  struct ClaimBatch {
    std::vector<Claim> claims;
    bool together = false;   // in one transaction
    bool with_more = false;  // and something else with them
    bool looked = false;     // at the items, which were free
    Deadline sent{};
  };

  void look_afresh(bool synced);
  bool free_left(Deadline until);
  void give_back(const std::string& path, const std::string& data, Deadline until);
  void leave_out_stray(const std::string& item, Deadline until);
  bool is_alone() const { return crowd_ == 0; }
  void note_others(bool looked);
  void give_way();
  std::vector<std::string> find_free(size_t most, Deadline until);
  bool is_worth_a_look(const std::string& path);
  void send(const std::vector<std::string>& paths, const std::vector<zk::Step>& with, bool looked, Deadline until);
  Claim claim(const std::string& path);
  void await_claims(ClaimBatch& batch, Deadline until);
  void find_out(ClaimBatch& batch, Deadline until);
  void try_again(ClaimBatch& batch, Deadline until);
  std::vector<Item> read_items(ClaimBatch& batch, Deadline until);
  Item item_of(const Claim& claim, zk::Answer answer, Deadline sent) const;

  zk::Session& session_;
  ItemFinder finder_;
  std::string note_;
  bool remembers_ = false;
  InWork in_work_;
  std::set<std::string> suspects_;            // items with a child that was not looked at yet
  std::unordered_set<std::string> examined_;  // the others of those
  size_t looks_left_ = 0;                     // in this pass, at items that were in work when we looked last
  std::deque<std::string> free_;              // seen to be free in this pass, in order
  std::deque<ClaimBatch> batches_;
  // How much others were in our way lately; 0: we are alone. From kCrowd on we begin somewhere behind the first items
  // and claim few at a time; else all would look at, and claim, the same ones. Who is alone always keeps the order.
  size_t crowd_ = 0;
  std::minstd_rand random_{std::random_device()()};
};

}  // namespace zklock::recipe
