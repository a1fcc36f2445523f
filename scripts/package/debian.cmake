# SPDX-License-Identifier: Apache-2.0
# Run by cpack between installing and packaging: what Debian wants otherwise than `cmake --install` does it.
cmake_minimum_required(VERSION 3.25)

# Whatever the umask of who packages.
file(CHMOD_RECURSE ${CPACK_TEMPORARY_DIRECTORY}
     DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
set(doc ${share}/doc/zklock)

# Where Debian's zsh searches below /usr.
file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)

# The licence itself is on every Debian.
file(REMOVE ${doc}/LICENSE)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${doc})

# Debian's own, in its form, which CHANGELOG.md is not.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog
     "zklock (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What has changed is in CHANGELOG.md, beside this file.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
file(CHMOD ${doc}/changelog ${doc}/copyright PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

if(CPACK_ZKLOCK_STATIC)
  file(WRITE ${share}/lintian/overrides/zklock
       "# It starts faster, and the same file runs on every host. At a fixed address, because to relocate the tables of
# OpenSSL, which is inside, would take a fifth of a start.
zklock: statically-linked-binary [usr/bin/zklock]
zklock: hardening-no-pie [usr/bin/zklock]
")
  file(CHMOD_RECURSE ${share}/lintian FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
       DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()

file(GLOB pages ${share}/man/man*/*)
execute_process(COMMAND gzip -9n ${pages} ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
