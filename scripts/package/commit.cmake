# SPDX-License-Identifier: Apache-2.0
# At each build: writes HEADER with the git commit of SOURCE, nothing where that is no checkout. A header that says so
# already is left alone, so that nothing is built again.
cmake_minimum_required(VERSION 3.25)

# git(VARIABLE ARG...): what git says; empty when there is none, or it fails. It must not lock the index, or it would
# be in the way of who commits meanwhile.
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
if(top STREQUAL source)  # else something else's, a folder above
  git(COMMIT rev-parse --short=12 HEAD)
  git(changes status --porcelain --untracked-files=no)
  if(changes)
    string(APPEND COMMIT -dirty)
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define ZKLOCK_COMMIT \"@COMMIT@\"\n" @ONLY)
