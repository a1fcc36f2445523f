// SPDX-License-Identifier: Apache-2.0
// Describes how a TLS connection failed. It is pure, except that it reads the connection and OpenSSL's errors.
#include "base/text.h"
#include "host/net/resolver.h"
#include "host/net/tls_stream.h"

#include <arpa/inet.h>
#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

using Kind = TlsFailure::Kind;

constexpr size_t kMostNames = 5;  // of a certificate; more are not shown

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string address_of(const ASN1_STRING* bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(ASN1_STRING_length(bytes) == sizeof(in_addr) ? AF_INET : AF_INET6, ASN1_STRING_get0_data(bytes), text,
            sizeof text);
  return text;
}

// An address in the place of a name counts neither as an address nor as a name.
std::string name_of(const ASN1_STRING* text) {
  const std::string name = text_of(text);
  return is_numeric_address(name) ? name + " (as a name)" : name;
}

// Returns the names that the certificate is checked by: its alternative names, or its subject's if it has none.
std::vector<std::string> names_of(const X509* certificate) {
  std::vector<std::string> names;
  const std::unique_ptr<GENERAL_NAMES, void (*)(GENERAL_NAMES*)> list(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; i < sk_GENERAL_NAME_num(list.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(list.get(), i);
    if (name->type == GEN_DNS) names.push_back(name_of(name->d.dNSName));
    if (name->type == GEN_IPADD) names.push_back(address_of(name->d.iPAddress));
  }
  if (!names.empty()) return names;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) names.push_back(name_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  return names;
}

std::string shown(std::vector<std::string> names) {
  const bool more = names.size() > kMostNames;
  if (more) names.resize(kMostNames);
  for (std::string& name : names) name = printable(name);
  return names.empty() ? "no name" : fmt::format("{}{}", fmt::join(names, ", "), more ? ", …" : "");
}

// Returns a time like "2026-11-23T04:05:06Z".
std::string time_of(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown time";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// Explains an alert, by the numbers of RFC 8446, 6. `answered`: the server's certificate had come before it, so both
// sides have a cipher in common.
TlsFailure explain_alert(int alert, bool has_certificate, bool answered) {
  const std::string said = SSL_alert_desc_string_long(alert);
  constexpr int kHandshakeFailure = 40;
  constexpr int kFirstOfCertificates = 41;
  constexpr int kLastOfCertificates = 49;
  constexpr int kIllegalParameter = 47;
  constexpr int kProtocolVersion = 70;
  constexpr int kInsufficientSecurity = 71;
  constexpr int kCertificateRequired = 116;
  const bool of_certificates = alert >= kFirstOfCertificates && alert <= kLastOfCertificates;
  if (alert == kCertificateRequired || (of_certificates && alert != kIllegalParameter) ||
      (alert == kHandshakeFailure && !has_certificate && answered)) {
    if (!has_certificate) {
      return {Kind::refused, fmt::format("it refuses a client without a certificate ({})", said),
              "give yours with --tls-cert and --tls-key"};
    }
    return {Kind::refused, fmt::format("it refuses our certificate ({})", said),
            "look whether it has expired, and whether the server trusts its authority"};
  }
  if (alert == kHandshakeFailure || alert == kProtocolVersion || alert == kInsufficientSecurity) {
    return {Kind::foreign, fmt::format("it has no version or cipher of TLS in common with us ({})", said),
            "let it speak TLS 1.2 or 1.3"};
  }
  return {Kind::interrupted, fmt::format("it broke TLS off ({})", said), "look into its log"};
}

}  // namespace

TlsFailure explain_distrust(x509_store_ctx_st* verification, const std::vector<std::string>& names) {
  const int verdict = X509_STORE_CTX_get_error(verification);
  const X509* certificate = X509_STORE_CTX_get_current_cert(verification);
  const char* whose =
      X509_STORE_CTX_get_error_depth(verification) == 0 ? "its certificate" : "its authority's certificate";
  const char* reason = X509_verify_cert_error_string(verdict);
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return {Kind::distrusted,
              fmt::format("its certificate is for {}, not for {}", shown(names_of(certificate)), shown(names)),
              "name the server as its certificate does, or give --tls-server-name"};
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return {Kind::distrusted, fmt::format("{} expired at {}", whose, time_of(X509_get0_notAfter(certificate))),
              "renew it, or look at the clock of this host"};
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return {Kind::distrusted,
              fmt::format("{} is not valid before {}", whose, time_of(X509_get0_notBefore(certificate))),
              "look at the clock of this host"};
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return {Kind::distrusted, fmt::format("its certificate is by an authority that is not trusted here ({})", reason),
              "name the file of its authority with --tls-ca"};
  }
  return {Kind::distrusted, fmt::format("{} is not good: {}", whose, reason), "give the server a better one"};
}

TlsFailure explain_failure(const ssl_st* ssl) {
  const unsigned long error = ERR_peek_error();
  const int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  if (reason > SSL_AD_REASON_OFFSET) {
    return explain_alert(reason - SSL_AD_REASON_OFFSET, SSL_get_certificate(ssl) != nullptr,
                         SSL_get0_peer_certificate(ssl) != nullptr);
  }
  if (reason == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return {Kind::interrupted, "it closed the connection in the TLS handshake",
            "look whether the port is its one for TLS (secureClientPort)"};
  }
  if (reason == SSL_R_UNSUPPORTED_PROTOCOL) {
    return {Kind::foreign, "it speaks no TLS from 1.2 on", "let it speak TLS 1.2 or 1.3"};
  }
  const char* text = ERR_reason_error_string(error);
  return {Kind::foreign, fmt::format("what it answers is no TLS ({})", text ? text : "unknown"),
          "name its port for TLS (secureClientPort)"};
}

}  // namespace zklock::host
