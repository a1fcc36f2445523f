# SPDX-License-Identifier: Apache-2.0
# Builds for 64-bit ARM on another machine: by Debian's cross compiler, with Debian's ARM libraries in
# build/sysroot-arm64, which scripts/release unpacks.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH sysroot)
cmake_path(GET sysroot PARENT_PATH sysroot)
set(CMAKE_SYSROOT ${sysroot}/build/sysroot-arm64)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Otherwise the compiler takes the libc that came with it, which Debian fixes less often.
set(CMAKE_EXE_LINKER_FLAGS_INIT -B${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu)

set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
set(CPACK_RPM_PACKAGE_ARCHITECTURE aarch64)
