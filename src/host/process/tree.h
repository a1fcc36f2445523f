// SPDX-License-Identifier: Apache-2.0
// The calling process's descendants. The caller is a subreaper, so whoever loses its parent becomes a child of the
// caller and nobody escapes: not by a double fork, not by setsid. Linux, /proc.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace zklock::host {

// Throws a Failure (70) where that is denied: nobody could be found who has lost its parent.
void become_subreaper();

// 0 if there is no such process.
pid_t parent_of(pid_t pid);

// Whether `pid` is the caller's parent, or its parent's parent, and so on.
bool is_ancestor(pid_t pid);

// Whether the process group of `member` is orphaned (POSIX): nobody in it has a parent in another group of the same
// session, as under cron, systemd or ssh with a command. Looks at `member` and its ancestors.
bool is_in_orphaned_group(pid_t member);

struct Process {
  pid_t pid;
  pid_t parent;  // when it was looked at
};

// All descendants of `ancestor`, parents before children, but for `spared` and what descends from them. None, too,
// where /proc cannot be read: only reap_children() tells for sure that there is no child.
std::vector<Process> descendants_of(pid_t ancestor, const std::vector<pid_t>& spared = {});

// Sends these signals, one after the other, to every descendant of the caller, each checked again, and named by a pidfd
// where the kernel has them (5.3), so that a recycled pid is not hit. Returns those that we may not signal. Reads all
// of /proc.
std::vector<pid_t> signal_descendants(std::initializer_list<int> signals, const std::vector<pid_t>& spared = {});

// The children of the caller but for `spared`. Nothing where they cannot be known: for lack of a descriptor, or of
// /proc.
std::optional<std::vector<pid_t>> own_children(const std::vector<pid_t>& spared = {});

// What is told of a child that is reaped.
using ChildReport = std::function<void(pid_t, int wait_status)>;

// One round of ending the children of the caller, a subreaper: kills and reaps them, those that lose their parents by
// that among them, as long as new ones turn up. False when none is left but the spared ones.
bool kill_children(const std::vector<pid_t>& spared, const ChildReport& report);

// One round of ending all descendants of the caller: its children, and then what is left below. Returns those that we
// may not signal. The caller reaps and repeats until it has no child. One free descriptor is enough to end all of them
// in the end.
std::vector<pid_t> kill_descendants(
    const std::vector<pid_t>& spared = {}, const ChildReport& report = [](pid_t, int) {});

// Reaps children that have ended and reports them, also stops. Of very many not all at once: SIGCHLD comes again for
// the rest. Returns whether the caller still has a child.
bool reap_children(const ChildReport& report = [](pid_t, int) {});

// From now on the kernel reaps children as they end, and nobody learns how; SIGCHLD comes still. False: no more.
void reap_unseen(bool unseen);

}  // namespace zklock::host
