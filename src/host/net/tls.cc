// SPDX-License-Identifier: Apache-2.0
#include "host/net/tls.h"

#include "base/text.h"
#include "host/fd.h"
#include "host/terminal.h"

#include <algorithm>
#include <memory>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>

namespace zklock::host {

namespace {

bool was_made = false;

// Debian and SUSE have this folder, with links for finding a certificate when it is needed. Red Hat has the file below.
constexpr const char* kSystemsFolder = "/etc/ssl/certs";
constexpr int64_t kNoFile = -1;            // the size of what cannot be read twice: a pipe
constexpr size_t kLargestFile = 16 << 20;  // bytes; all authorities of the world take 0.2 MiB
constexpr const char* kSystemsFile = "/etc/pki/tls/certs/ca-bundle.crt";

using Bio = std::unique_ptr<BIO, int (*)(BIO*)>;
using Context = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;
using Certificate = std::unique_ptr<X509, void (*)(X509*)>;

Failure unusable(const std::string& file, const char* origin, const std::string& reason) {
  return {ExitStatus::usage, fmt::format("cannot use '{}' ({}): {}", printable(file), origin, reason)};
}

struct TlsFile {
  std::string text;
  struct stat status {};
};

// Reads the whole file, and only once, because it may be a pipe.
TlsFile read_file(const std::string& file, const char* origin) {
  TlsFile read;
  const Fd opened = open_to_read(file);
  if (!opened || fstat(opened.get(), &read.status) != 0) throw unusable(file, origin, std::strerror(errno));
  if (S_ISDIR(read.status.st_mode)) throw unusable(file, origin, "it is a folder");
  char part[4096];
  ssize_t length = 0;
  while ((length = ::read(opened.get(), part, sizeof part)) > 0) {
    read.text.append(part, static_cast<size_t>(length));
    if (read.text.size() > kLargestFile) throw unusable(file, origin, "it is larger than 16 MiB");
  }
  if (length < 0) throw unusable(file, origin, std::strerror(errno));
  return read;
}

// Returns whether the key's file is open to too many. For our own file, that is the rule of ssh. root's file may be
// readable for a group, as Debian's server keys are.
bool is_exposed(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return false;
  const bool own = status.st_uid == geteuid() && status.st_uid != 0;
  return status.st_mode & (own ? S_IRWXG | S_IRWXO : S_IRWXO);
}

Bio bio_of(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

std::string reason_of(unsigned long error) {
  const char* reason = ERR_reason_error_string(error);
  return reason ? reason : fmt::format("error {:x}", error);
}

// OpenSSL calls this for a passphrase. Without it, OpenSSL would ask for one at the terminal.
int note_asked(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

// Returns all certificates of the file, in its order. Throws if one is bad, because the rest might be no chain.
std::vector<Certificate> certificates_in(const std::string& text, const std::string& file, const char* origin) {
  std::vector<Certificate> all;
  const Bio bio = bio_of(text);
  bool locked = false;
  ERR_clear_error();
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, note_asked, &locked)) all.emplace_back(one, X509_free);
  const unsigned long error = ERR_peek_last_error();
  if (ERR_GET_REASON(error) != PEM_R_NO_START_LINE) {
    throw unusable(file, origin, "a certificate in it cannot be read: " + reason_of(error));
  }
  if (all.empty()) throw unusable(file, origin, "there is no certificate in it (PEM)");
  ERR_clear_error();
  return all;
}

void set_rules(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  // A server's own certificate may be given in place of its authority's.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
}

void trust(SSL_CTX* context, const std::string& file, const char* origin) {
  for (const Certificate& one : certificates_in(read_file(file, origin).text, file, origin)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one.get());
  }
}

void trust_systems_authorities(SSL_CTX* context) {
  const std::string file = environment("SSL_CERT_FILE");
  const std::string folder = environment("SSL_CERT_DIR");
  if (!file.empty()) trust(context, file, "SSL_CERT_FILE");
  if (!folder.empty()) SSL_CTX_load_verify_dir(context, folder.c_str());
  if (!file.empty() || !folder.empty()) return;
  SSL_CTX_load_verify_dir(context, kSystemsFolder);
  if (access(kSystemsFile, R_OK) == 0) SSL_CTX_load_verify_file(context, kSystemsFile);
}

void take_key(SSL_CTX* context, const TlsOptions& options, const std::string& text, const std::string& file) {
  bool locked = false;
  const Bio bio = bio_of(text);
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, note_asked, &locked), EVP_PKEY_free);
  const char* origin = options.key.empty() ? "--tls-cert" : "--tls-key";
  if (locked) throw unusable(file, origin, "the key has a passphrase, for which zklock does not ask");
  if (!key) {
    throw unusable(
        file, origin,
        options.key.empty() ? "there is no key in it: name its file with --tls-key" : "there is no key in it (PEM)");
  }
  // The first call alone accepts a key of another type than the certificate's, and keeps it beside that.
  if (SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1) return;
  throw unusable(file, origin, fmt::format("the key is not that of '{}'", printable(options.certificate)));
}

void take_certificate(SSL_CTX* context, const TlsOptions& options) {
  const TlsFile file = read_file(options.certificate, "--tls-cert");
  const std::vector<Certificate> chain = certificates_in(file.text, options.certificate, "--tls-cert");
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) {
    throw unusable(options.certificate, "--tls-cert", reason_of(ERR_peek_last_error()));
  }
  for (size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(context, chain[i].get());
  const bool same = options.key.empty();
  const std::string& name = same ? options.certificate : options.key;
  const TlsFile key = same ? file : read_file(name, "--tls-key");
  take_key(context, options, key.text, name);
  if (is_exposed(key.status)) {
    throw unusable(name, same ? "--tls-cert" : "--tls-key", "others can read the key: chmod go= it");
  }
}

// Makes, from the files, what all connections share. Throws as Tls does.
Context make_context(const TlsOptions& options) {
  was_made = true;
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  Context context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (!context) throw Failure(ExitStatus::internal, "cannot start TLS: " + reason_of(ERR_get_error()));
  set_rules(context.get());
  if (options.authorities.empty()) {
    trust_systems_authorities(context.get());
  } else {
    trust(context.get(), options.authorities, "--tls-ca");
  }
  if (!options.certificate.empty()) take_certificate(context.get(), options);
  ERR_clear_error();
  return context;
}

}  // namespace

std::string tls_version() {
  return fmt::format("TLS by OpenSSL {}", OpenSSL_version(OPENSSL_VERSION_STRING));
}

Tls::Tls(TlsOptions options) : options_(std::move(options)), versions_(versions()), context_(make_context(options_)) {}

bool Tls::is_used() {
  return was_made;
}

std::vector<Tls::Version> Tls::versions() const {
  std::vector<Version> versions;
  const std::string& given = options_.authorities;
  const std::string authorities = given.empty() ? environment("SSL_CERT_FILE") : given;
  for (const std::string& file : {authorities, options_.certificate, options_.key}) {
    struct stat found {};
    if (file.empty()) continue;
    Version& version = versions.emplace_back();
    if (stat(file.c_str(), &found) != 0) continue;
    const int64_t written = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec;
    version = {found.st_dev, found.st_ino, S_ISREG(found.st_mode) ? found.st_size : kNoFile, written};
  }
  return versions;
}

ssl_ctx_st* Tls::context() const {
  const std::vector<Version> now = versions();
  const bool again = std::ranges::none_of(now, [](const Version& one) { return one.size == kNoFile; });
  if (now == versions_ || !again) return context_.get();
  versions_ = now;
  try {
    context_ = make_context(options_);
  } catch (const Failure& failure) {
    remark(fmt::format("zklock: {}; going on with what was there before\n", failure.text()));
  }
  return context_.get();
}

}  // namespace zklock::host
