#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what `cmake --install` puts where, that it works there without the source tree, and the Debian package.

load ../helpers

setup_file() {
  load ../helpers
  export installed=$BATS_FILE_TMPDIR/usr build=${ZKLOCK_BIN%/*}
  cmake --install "$build" --strip --prefix "$installed" >/dev/null || fail "cannot install $build"
}

setup() { setup_place; }

teardown() { end_all; }

# Makes the installed programs the first ones in PATH.
use_installed() { export PATH=$installed/bin:$PATH; }

@test "everything is where the system looks" {
  local file
  for file in bin/zklock bin/zklock-sandbox share/man/man1/zklock.1 share/man/man1/zklock-sandbox.1 \
    share/bash-completion/completions/zklock share/zsh/site-functions/_zklock \
    share/fish/vendor_completions.d/zklock.fish share/doc/zklock/{README.md,CHANGELOG.md,LICENSE} \
    share/doc/zklock/examples/{crontab,active-standby@.service,nightly.service,nightly.timer}; do
    assert [ -s "$installed/$file" ]
  done
  assert_equal "$(find "$installed" -name '*.[17]' -printf '%f\n' | sort)" \
    "$(find "$repo/man" -name '*.[17]' -printf '%f\n' | sort)"
}

@test "the program says its version, and nothing of where it was built" {
  use_installed
  expect_status 0 env zklock -V
  assert_line --index 0 --regexp '^zklock [0-9.]+$'
  refute_output --partial /
}

@test "man finds the pages" {
  local page
  for page in "$repo"/man/*.[17]; do
    page=${page##*/}
    expect_status 0 env MANPATH="$installed/share/man" man -w "${page%.*}"
    assert_output "$installed/share/man/man${page##*.}/$page"
  done
}

@test "bash completes with the file that is installed" {
  expect_status 0 bash -c '. "$1" && complete -p zklock' bash "$installed/share/bash-completion/completions/zklock"
  assert_output --partial "zklock"
}

@test "the sandbox goes by its installed name, and works from there" {
  use_installed
  expect_status 0 env zklock-sandbox --help
  assert_output --partial "zklock-sandbox [OPTION…] -- CMD"
  refute_output --regexp '(^|[^o])zk-sandbox'
  expect_error_of_sandbox 64 "unknown word '--sevrers'; see zklock-sandbox --help" --sevrers 3 -- true
  local tls
  for tls in "" --tls; do
    # shellcheck disable=SC2086
    expect_status 0 env -u ZKLOCK_SERVERS zklock-sandbox $tls -- zklock run /l -- echo hi
    assert_output hi
    assert_equal "$stderr" ""
  done
}

# expect_error_of_sandbox STATUS TEXT ARG…: zklock-sandbox ends so, with this one line.
expect_error_of_sandbox() {
  expect_status "$1" env zklock-sandbox "${@:3}"
  assert_equal "$stderr" "zklock-sandbox: $2"
}

@test "without Java the sandbox says in one line what to install" {
  use_installed
  JAVA_HOME=/nowhere ZOOKEEPER_HOME=/nowhere expect_error_of_sandbox 1 \
    "cannot start a server: there is no /nowhere/bin/java; on Debian: apt install default-jre-headless" -- true
}

# cron_command TEXT: prints the command of the line of the examples' crontab that contains TEXT.
cron_command() { sed -n "/^[*0-9].*$1/s/^\([^ ]* *\)\{5\}//p" "$installed/share/doc/zklock/examples/crontab"; }

@test "a line of the examples' crontab runs its job, and is silent when the lock is busy" {
  setup_zk
  use_installed
  mkdir bin
  printf '#!/bin/sh\necho fetched\n' >bin/fetch-feed
  chmod +x bin/fetch-feed
  PATH=$PWD/bin:$PATH
  expect_status 0 sh -c "$(cron_command fetch-feed)"
  assert_output fetched
  hold h /locks/feed
  expect_status 0 sh -c "$(cron_command fetch-feed)"
  assert_equal "$output$stderr" ""
  let_all_go h
}

@test "the nightly line of the crontab runs once in a night" {
  setup_zk
  use_installed
  mkdir bin
  printf '#!/bin/sh\necho worked\n' >bin/nightly
  chmod +x bin/nightly
  PATH=$PWD/bin:$PATH
  expect_status 0 sh -c "$(cron_command nightly)"
  assert_output worked
  expect_status 0 sh -c "$(cron_command nightly)"
  assert_equal "$output$stderr" ""
}

@test "systemd takes the examples' units" {
  command -v systemd-analyze >/dev/null || skip "no systemd-analyze"
  local file
  for file in "$installed"/share/doc/zklock/examples/*.{service,timer}; do
    # systemd searches only its own folders.
    sed "s,^ExecStart=zklock ,ExecStart=$installed/bin/zklock ," "$file" >"${file##*/}"
  done
  mv active-standby@.service active-standby@importer.service
  expect_status 0 env SYSTEMD_LOG_LEVEL=warning systemd-analyze verify ./active-standby@importer.service ./nightly.service ./nightly.timer
  assert_equal "$output$stderr" ""
}

# Packs what is installed already, because cpack would build first, and change the program under the other tests.
make_package() {
  expect_status 0 cpack --config "$build/CPackConfig.cmake" -G DEB -B "$PWD/package" \
    -D CPACK_INSTALL_CMAKE_PROJECTS= -D "CPACK_INSTALLED_DIRECTORIES=$installed;/usr"
}

@test "the Debian package has its dependencies, and pages and completions where Debian wants them" {
  make_package
  local package file
  package=$(echo package/zklock_*_"$(dpkg --print-architecture)".deb)
  expect_status 0 dpkg-deb -f "$package" Depends Suggests Section Maintainer
  if [[ $(zklock -V) == *static* ]]; then
    refute_line --partial Depends
  else
    assert_line --regexp '^Depends: .*libc6 '
    assert_line --regexp '^Depends: .*libfmt'
  fi
  assert_line "Suggests: ca-certificates, default-jre-headless, libzookeeper-java, libslf4j-java, openssl"
  assert_line "Section: admin"
  expect_status 0 sh -c 'dpkg-deb --fsys-tarfile "$1" | tar -t' sh "$package"
  for file in bin/zklock bin/zklock-sandbox share/man/man1/zklock.1.gz share/doc/zklock/{changelog.gz,copyright} \
    share/zsh/vendor-completions/_zklock share/bash-completion/completions/zklock; do
    assert_line "./usr/$file"
  done
  refute_output --partial site-functions
  refute_line --regexp '^\./(tmp|home|root|[^u])'
}

@test "the Debian package names a maintainer and its changelog in the forms that Debian wants" {
  (umask 077 && make_package)
  expect_status 0 dpkg-deb -f package/zklock_*.deb Maintainer
  assert_output --regexp '^[^<]+ <[^@ ]+@[^@ ]+>$'
  dpkg-deb -x package/zklock_*.deb unpacked
  gzip -d unpacked/usr/share/doc/zklock/changelog.gz
  expect_status 0 env LC_ALL=C dpkg-parsechangelog -l unpacked/usr/share/doc/zklock/changelog
  assert_line "Version: $(zklock -V | sed -n '1s/zklock //p')"
  assert_line --partial "* \`zklock run\`: run a command under a fair lock"
  assert_equal "$stderr" ""
  assert_equal "$(find unpacked -type f ! -perm -444)" ""
}

# changelog COMMAND ARG…: runs it on a file with a release, the one before, and what comes next.
changelog() {
  mkdir -p scripts/package
  cp "$repo/scripts/package/changelog" scripts/package/
  printf '%s\n' "# Changelog" "" "## [Unreleased]" "" "### Added" "" "- Later." "" \
    "## [1.1.0] - 2026-12-24" "" "### Fixed" "" "- A mistake," "  on two lines." "" "- Another." "" \
    "## [1.0.0] - 2026-11-30" "" "The first." >CHANGELOG.md
  expect_status 0 scripts/package/changelog "$@"
}

@test "the notes of a version are its section, or what is unreleased" {
  changelog notes 1.1.0
  assert_output $'### Fixed\n\n- A mistake,\n  on two lines.\n\n- Another.'
  changelog date 1.1.0
  assert_output 2026-12-24
  changelog notes 2.0.0
  assert_output $'### Added\n\n- Later.'
  changelog date 2.0.0
  assert_output ""
}

@test "Debian's changelog ends with the first version and begins with the one that is packaged" {
  changelog debian 1.0.0 "A B <a@example.org>"
  assert_output "zklock (1.0.0) unstable; urgency=medium

  * The first.

 -- A B <a@example.org>  Mon, 30 Nov 2026 00:00:00 +0000"
  changelog debian 1.1.0 "A B <a@example.org>"
  assert_line --index 0 "zklock (1.1.0) unstable; urgency=medium"
  assert_line "  [ Fixed ]"
  assert_line "  * A mistake, on two lines."
  assert_line "zklock (1.0.0) unstable; urgency=medium"
  refute_output --partial Later
  changelog debian 2.0.0 "A B <a@example.org>"
  assert_line --index 0 "zklock (2.0.0) UNRELEASED; urgency=medium"
  assert_line "  * Later."
  assert_line "zklock (1.1.0) unstable; urgency=medium"
}
