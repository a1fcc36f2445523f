// SPDX-License-Identifier: Apache-2.0
#include "host/net/lookup_modules.h"

#include <nss.h>

namespace zklock::host {

namespace {

bool own_only = false;

}  // namespace

void keep_to_own_lookup_modules() {
  own_only = true;
  // zklock and the C client look up nothing else. These modules are inside libc since glibc 2.34.
  __nss_configure_lookup("passwd", "files");
  __nss_configure_lookup("hosts", "files dns");
}

bool keeps_to_own_lookup_modules() {
  return own_only;
}

}  // namespace zklock::host
