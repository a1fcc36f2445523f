# At each build: writes HEADER with the git commit of SOURCE, nothing where that is no checkout. A header that says so
# already is left alone, so that nothing is built again.
cmake_minimum_required(VERSION 3.25)
find_program(GIT git)
set(COMMIT "")
if(GIT)
  # The folder above may be a checkout of something else.
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix
                  OUTPUT_VARIABLE prefix RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0 AND prefix STREQUAL "")
    execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE COMMIT ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define ZKLOCK_COMMIT \"@COMMIT@\"\n" @ONLY)
