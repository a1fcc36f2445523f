// SPDX-License-Identifier: Apache-2.0
// Only where OpenSSL is linked statically. Its archive asks the processor before main() what that can do, which traps
// to the hypervisor in a virtual machine: a part of every start, of those without TLS, too. It asks again when it is
// initialized (the linker's --wrap=OPENSSL_cpuid_setup catches both).
#include "host/net/tls.h"

extern "C" void __real_OPENSSL_cpuid_setup();
extern "C" void __wrap_OPENSSL_cpuid_setup();

void __wrap_OPENSSL_cpuid_setup() {
  if (zklock::host::Tls::is_used()) __real_OPENSSL_cpuid_setup();
}
