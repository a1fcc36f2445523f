// SPDX-License-Identifier: Apache-2.0
// The calling process's descendants, and /proc, where they are found. The caller is a subreaper, so a process that
// loses its parent becomes its child. No process escapes, neither by a double fork nor by setsid. This needs Linux.
#pragma once

#include "host/fd.h"

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zklock::host {

// Returns the descriptor of /proc, which the first call opens and which is never closed; -1, with errno set, if there
// is none. Code that closes unknown descriptors must spare it. It stays open, because a command that runs as root may
// unmount /proc or mount another one over it, and its processes must be found all the same.
int proc_folder();

// Opens a file below /proc to read it. Returns none, with errno set, if that fails.
Fd open_in_proc(const std::string& path);
// Returns the names in a folder below /proc; nothing, with errno set, if we may not read it. Uses one descriptor.
std::optional<std::vector<std::string>> names_in_proc(const std::string& path = ".");
// Returns the target of a link below /proc; "" if it cannot be read.
std::string link_in_proc(const std::string& path);

// Makes the caller a subreaper. Throws a Failure (70) if that is denied: processes that lost their parents could not be
// found then.
void become_subreaper();

// Returns the parent of `pid`; 0 if there is no such process.
pid_t parent_of(pid_t pid);

// Returns whether `pid` is the caller's parent, or its parent's parent, and so on.
bool is_ancestor(pid_t pid);

// Returns whether the process group of `member` is orphaned (POSIX), as under cron, systemd or ssh with a command. Then
// no process in it has a parent in another group of the same session. Checks only `member` and its ancestors.
bool is_in_orphaned_group(pid_t member);

struct Process {
  pid_t pid;
  pid_t parent;  // at the time of the search
};

// Returns all descendants of `ancestor`, parents before children, except `spared` and their descendants. Also returns
// none if /proc cannot be read. Only reap_children() shows for sure that there is no child.
std::vector<Process> descendants_of(pid_t ancestor, const std::vector<pid_t>& spared = {});

// Sends these signals, one after the other, to every descendant of the caller except `spared` and their descendants.
// Each is checked again, and named by a pidfd if the kernel has them (5.3), so that a recycled pid is not hit. Returns
// the processes that we may not signal. Reads all of /proc.
std::vector<pid_t> signal_descendants(std::initializer_list<int> signals, const std::vector<pid_t>& spared = {});

// Returns the caller's children except `spared`; nothing if they cannot be known, for lack of a descriptor or of /proc.
std::optional<std::vector<pid_t>> own_children(const std::vector<pid_t>& spared = {});

// Receives each child that is reaped, has stopped or was continued.
using ChildReport = std::function<void(pid_t, int wait_status)>;

// Does one round of ending the children of the caller, a subreaper. Kills and reaps them, and the orphans that this
// makes its children, as long as new ones turn up within a second. Returns false if no child is left except `spared`.
bool kill_children(const std::vector<pid_t>& spared, const ChildReport& report);

// Does one round of ending all descendants of the caller: first its children, then what is left below. The caller reaps
// and repeats until it has no child. One free descriptor is enough to end all of them in the end.
void kill_descendants(const std::vector<pid_t>& spared = {});

// Reaps children that have ended and reports them, and also stops. Reaps at most 4,096 at once, and then raises SIGCHLD
// for the rest. Returns whether the caller still has a child.
bool reap_children(const ChildReport& report = [](pid_t, int) {});

// With true, the kernel reaps children as they end, so their exit statuses are lost. SIGCHLD still comes. With false,
// it stops doing so.
void reap_unseen(bool unseen);

}  // namespace zklock::host
