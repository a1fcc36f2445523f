#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what the ZooKeeper library asks of the system. By the linker's --wrap, zklock puts TLS and a look at what is
# received between it and its sockets. A library that used another way would bypass that, in the clear.

load ../helpers

setup() {
  setup_place
  archive=$(sed -n 's/^ZOOKEEPER_ARCHIVE:FILEPATH=//p' "${ZKLOCK_BIN%/*}/CMakeCache.txt") || return
}

# Prints the known calls: those that zklock has wrapped; those about sockets that move no bytes; those that read random
# numbers, from a file; and those that know of no descriptor.
known() {
  printf '%s\n' connect recv send \
    close fcntl getpeername getsockopt poll setsockopt socket freeaddrinfo gai_strerror getaddrinfo inet_ntop \
    open read \
    _GLOBAL_OFFSET_TABLE_ abort assert_fail calloc clock_gettime ctype_b_loc drand48 errno_location fflush fprintf free \
    fwrite getcwd gethostname getlogin getpid getpwuid_r gettimeofday getuid localtime_r malloc memcpy memmove memset \
    random realloc snprintf sprintf srand48 srandom stack_chk_fail stderr strcat strchr strcmp strcpy strdup strerror \
    strftime strlen strncmp strncpy strrchr strtok_r strtol time uname vsnprintf
}

names() { awk -v kind="$1" 'NF >= 2 && $(NF - 1) ~ kind { print $NF }' | sort -u; }

# Prints names as a program calls them, without what FORTIFY and large files make of them. But __recv_chk stays, because
# wrapping recv does not wrap it.
plain_names() { sed -E 's/^__(isoc[0-9]+_)?//; /^recv_chk$/!s/_chk$//; s/64$//' | sort -u; }

# unknown_calls ARCHIVE: prints what it takes from elsewhere and what is not among the known.
unknown_calls() {
  comm -23 <(nm -u "$1" | names U) <(nm --defined-only "$1" | names '[A-TV-Z]') | plain_names | comm -23 - <(known | sort -u)
}

# calls ARCHIVE NAME: prints how often it calls NAME.
calls() { objdump -r "$1" | grep -cE "[[:space:]](__)?$2(64)?(_chk|_2)?([-+@]|\$)"; }

# passes ARCHIVE
passes() {
  local unknown
  unknown=$(unknown_calls "$1" | paste -sd ' ') || return
  [[ -z $unknown ]] ||
    fail "libzookeeper_st.a calls what it did not before: $unknown. If one of these can send or receive on a socket, zklock \
has to wrap it, beside connect, send and recv (CMakeLists.txt, src/zk); else add it to the list of this test" || return
  # The random numbers need one call each; a second one might be a socket's.
  [[ $(calls "$1" open) == 1 && $(calls "$1" read) == 1 ]] ||
    fail "libzookeeper_st.a calls open or read more than once: look whether that reads from a socket, past zklock's recv"
}

# with_call DECLARATION CALL: makes an archive like the library's, but with that call.
with_call() {
  printf '%s\n' "$1" "int planted(int fd, void* data) { return (int)$2; }" >planted.c
  cc -O1 -c planted.c
  cp "$archive" changed.a
  ar r changed.a planted.o
}

@test "the library sends, receives and connects by what zklock has wrapped, and by nothing else" {
  assert [ -e "$archive" ]
  assert [ "$(nm -u "$archive" | names U | grep -cxE 'connect|send|recv')" = 3 ]
  passes "$archive"
  assert_equal "$(grep -cE 'wrap=connect.*wrap=send.*wrap=recv' "$repo/CMakeLists.txt")" 1
}

@test "another library than that is seen" {
  local planted
  for planted in 'long write(int, void*, long);|write(fd, data, 1)' 'long sendmsg(int, void*, int);|sendmsg(fd, data, 0)' \
    'long readv(int, void*, int);|readv(fd, data, 1)' 'int SSL_write(void*, void*, int);|SSL_write(data, data, fd)' \
    'long recvfrom(int, void*, long, int, void*, void*);|recvfrom(fd, data, 1, 0, 0, 0)' \
    'long __recv_chk(int, void*, long, long, int);|__recv_chk(fd, data, 1, 1, 0)' \
    'long read(int, void*, long);|read(fd, data, 1)' \
    'long __read_chk(int, void*, long, long);|__read_chk(fd, data, 1, 1)'; do
    with_call "${planted%|*}" "${planted#*|}"
    run passes changed.a
    assert_failure
    assert_output --partial "libzookeeper_st.a calls"
  done
}
