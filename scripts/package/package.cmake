# SPDX-License-Identifier: Apache-2.0
# Defines what is installed where (cmake --install), the Debian package (cpack -G DEB), the RPM (cpack -G RPM) and the
# tarball (cpack -G TGZ).
include(GNUInstallDirs)

install(TARGETS zklock)
install(PROGRAMS scripts/zk-sandbox RENAME zklock-sandbox DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(section 1 7)
  file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
install(FILES README.md CHANGELOG.md LICENSE scripts/package/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
# libc is inside, so its licence applies.
if(ZKLOCK_PORTABLE AND EXISTS /usr/share/common-licenses/LGPL-2.1)
  install(FILES /usr/share/common-licenses/LGPL-2.1 RENAME LGPL-2.1.txt DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
install(DIRECTORY scripts/package/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES completions/zklock.bash RENAME zklock
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/zklock.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Zsh searches this folder, and so does Debian's zsh below /usr/local; debian.cmake handles /usr.
install(FILES completions/_zklock DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

set(CPACK_PACKAGE_NAME zklock)
set(CPACK_PACKAGE_HOMEPAGE_URL ${ZKLOCK_HOMEPAGE})
# A publisher of packages gives -DCPACK_PACKAGE_CONTACT='Name <address>'; this address is valid in form only.
if(NOT CPACK_PACKAGE_CONTACT MATCHES "<.+@.+>")
  set(CPACK_PACKAGE_CONTACT "zklock maintainers <maintainers@zklock.invalid>")
endif()
set(CPACK_PACKAGE_VENDOR "the zklock authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "distributed locks and queues for the shell, on ZooKeeper")
set(CPACK_PACKAGE_DESCRIPTION
    "zklock runs a command under a lock that all hosts share, like flock
across machines. The command is stopped before the lock can go to
somebody else. Locks, slots, queues, groups, values and health checks
are for shell scripts, cron jobs and services; the servers are those
of an Apache ZooKeeper ensemble.
.
zklock-sandbox starts ZooKeeper servers on this machine to try things
on, where Java and ZooKeeper are installed.")
set(CPACK_STRIP_FILES ON)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME zklock-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # finds none for a static program
# Java is only suggested, because a host that locks does not need it; zklock-sandbox says what to install. The first
# package has the authorities that --tls trusts.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "ca-certificates, default-jre-headless, libzookeeper-java, libslf4j-java, openssl")
set(CPACK_ZKLOCK_STATIC ${ZKLOCK_PORTABLE})  # for debian.cmake

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP System/Base)
string(REPLACE "\n.\n" "\n\n" CPACK_RPM_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
# Without this, the RPM would name the host that built it, and own links that debuggers look for.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _buildhost localhost
%define _build_id_links none")
# These folders belong to other packages.
foreach(folder bash-completion bash-completion/completions fish fish/vendor_completions.d man man/man1 man/man7
               zsh zsh/site-functions)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/${folder})
endforeach()

set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/scripts/package/debian.cmake)
include(CPack)
