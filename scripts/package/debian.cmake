# SPDX-License-Identifier: Apache-2.0
# cpack runs this between installing and packaging. It changes what Debian wants otherwise than `cmake
# --install` does it.
cmake_minimum_required(VERSION 3.25)

# The umask of the user must not matter.
file(CHMOD_RECURSE ${CPACK_TEMPORARY_DIRECTORY}
     DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
set(doc ${share}/doc/zklock)

# Debian's zsh searches this folder below /usr.
file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)

# Every Debian has the licences themselves.
file(REMOVE ${doc}/LICENSE ${doc}/LGPL-2.1.txt)

# Debian wants its own form of changelog, which CHANGELOG.md is not.
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/changelog debian ${CPACK_PACKAGE_VERSION} ${CPACK_PACKAGE_CONTACT}
                OUTPUT_FILE ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
file(CHMOD ${doc}/changelog PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

if(CPACK_ZKLOCK_STATIC)
  file(WRITE ${share}/lintian/overrides/zklock
       "# It starts faster, and the same file runs on every host. At a fixed address, because to relocate the tables of
# OpenSSL, which is inside, would take a fifth of a start. ncurses is inside for the same reason.
zklock: statically-linked-binary [usr/bin/zklock]
zklock: hardening-no-pie [usr/bin/zklock]
zklock: embedded-library ncurses [usr/bin/zklock]
")
  file(CHMOD_RECURSE ${share}/lintian FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
       DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()

file(GLOB pages ${share}/man/man*/*)
execute_process(COMMAND gzip -9n ${pages} ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
