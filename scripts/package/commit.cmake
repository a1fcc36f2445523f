# SPDX-License-Identifier: Apache-2.0
# Runs at each build: writes HEADER with the git commit of SOURCE, without one if SOURCE is no checkout. A header that
# is up to date is not touched, so nothing is built again.
cmake_minimum_required(VERSION 3.25)

# git(VARIABLE ARG...): sets VARIABLE to git's output; empty if there is no git, or it fails. It must not lock the
# index, because that would block a commit at the same time.
find_program(GIT git)
function(git variable)
  set(output "")
  if(GIT)
    execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} ${ARGN}
                    OUTPUT_VARIABLE output ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

set(COMMIT "")
git(top rev-parse --show-toplevel)
file(REAL_PATH ${SOURCE} source)
if(top STREQUAL source)  # otherwise a folder above is the checkout
  git(COMMIT rev-parse --short=12 HEAD)
  git(changes status --porcelain --untracked-files=no)
  if(changes)
    string(APPEND COMMIT -dirty)
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define ZKLOCK_COMMIT \"@COMMIT@\"\n" @ONLY)
