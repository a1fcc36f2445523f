# SPDX-License-Identifier: Apache-2.0
# What the tests of TLS share: authorities, certificates, and servers that speak it. Needs `load ../helpers`.
#
# shellcheck shell=bash disable=SC2034

own_names=subjectAltName=IP:127.0.0.1,DNS:localhost

# In setup_file: the certificates of this file's tests are made in $certificates.
certificates_here() {
  export certificates=$BATS_FILE_TMPDIR/certificates
  mkdir "$certificates" && cd "$certificates" || return
}

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

# make_authority NAME: its certificate in NAME.pem.
make_authority() {
  new_key "$1.key" &&
    openssl req -x509 -config /dev/null -subj "/CN=$1" -key "$1.key" -out "$1.pem" -days 2 \
      -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign
}

# make_certificate NAME AUTHORITY [EXTENSION [OPTION…]]: in NAME.pem with its key, which is alone in NAME.key. Options
# are those of `openssl ca`, which alone sets both dates.
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

# tls_server ARG…: one more of tests/helpers/tls_server.py, on $port, by ${pid[$port]}; what it says is in said.$port.
tls_server() {
  : >said # or an older one would be read
  background "$repo/tests/helpers/tls_server.py" "$@" >said
  local its_pid=$!
  wait_for port said
  port=$(sed -n 's/^port //p' said)
  pid["$port"]=$its_pid
  mv said "said.$port"
}
