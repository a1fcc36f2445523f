// SPDX-License-Identifier: Apache-2.0
// Compiled only if OpenSSL is linked statically. Its archive asks the processor for its features before main(). In a
// virtual machine, that traps to the hypervisor and slows every start, even without TLS. OpenSSL asks again when it is
// initialized. The linker's --wrap=OPENSSL_cpuid_setup catches both calls.
#include "host/net/tls.h"

extern "C" void __real_OPENSSL_cpuid_setup();
extern "C" void __wrap_OPENSSL_cpuid_setup();

void __wrap_OPENSSL_cpuid_setup() {
  if (zklock::host::Tls::is_used()) __real_OPENSSL_cpuid_setup();
}
