# SPDX-License-Identifier: Apache-2.0
# Helpers for the tests of TLS, loaded after helpers: authorities, certificates, and servers that speak TLS.
#
# shellcheck shell=bash disable=SC2034

own_names=subjectAltName=IP:127.0.0.1,DNS:localhost

# For setup_file: makes the folder $certificates for those of this file's tests, and enters it.
certificates_here() {
  export certificates=$BATS_FILE_TMPDIR/certificates
  mkdir "$certificates" && cd "$certificates" || return
}

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

# make_authority NAME: writes its certificate to NAME.pem.
make_authority() {
  new_key "$1.key" &&
    openssl req -x509 -config /dev/null -subj "/CN=$1" -key "$1.key" -out "$1.pem" -days 2 \
      -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign
}

# make_certificate NAME AUTHORITY [EXTENSION [OPTION…]]: writes it to NAME.pem with its key, and the key alone to
# NAME.key. The options are those of `openssl ca`, because only that sets both dates.
make_certificate() {
  local name=$1 authority=$2
  printf '%s\n' "${3:-subjectAltName=DNS:none.example}" >"$name.extensions"
  printf '%s\n' '[ca]' default_ca=a '[a]' "database=$name.index" new_certs_dir=. rand_serial=yes default_md=sha256 \
    default_days=2 policy=any '[any]' commonName=supplied >"$name.conf"
  : >"$name.index"
  [[ -e $name.key ]] || new_key "$name.key" || return
  openssl req -new -config /dev/null -subj "/CN=${name##*/}" -key "$name.key" -out "$name.csr" || return
  openssl ca -batch -notext -config "$name.conf" -cert "$authority.pem" -keyfile "$authority.key" \
    -in "$name.csr" -out "$name.crt" -extfile "$name.extensions" "${@:4}" || return
  cat "$name.crt" "$name.key" >"$name.pem"
  chmod 600 "$name.pem" "$name.key"
}

# tls_server ARG…: starts another tests/helpers/tls_server.py on $port, as ${pid[$port]}; its output is in said.$port.
tls_server() {
  : >said # otherwise an older one would be read
  background "$repo/tests/helpers/tls_server.py" "$@" >said
  local its_pid=$!
  wait_for port said
  port=$(sed -n 's/^port //p' said)
  pid["$port"]=$its_pid
  mv said "said.$port"
}
