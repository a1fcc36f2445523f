# Run by cpack between installing and packaging: what Debian wants otherwise than `cmake --install` does it.
cmake_minimum_required(VERSION 3.25)
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
set(doc ${share}/doc/zklock)

# Where Debian's zsh searches below /usr.
file(MAKE_DIRECTORY ${share}/zsh/vendor-completions)
file(RENAME ${share}/zsh/site-functions/_zklock ${share}/zsh/vendor-completions/_zklock)
file(REMOVE_RECURSE ${share}/zsh/site-functions)

# The licence itself is on every Debian.
file(REMOVE ${doc}/LICENSE)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${doc})

file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
file(GLOB pages ${share}/man/man*/*)
execute_process(COMMAND gzip -9n ${pages} ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
