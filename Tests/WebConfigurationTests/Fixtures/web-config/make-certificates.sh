#!/bin/sh
# Makes the certificates and keys of this folder anew. They are for tests only; nothing trusts them.
set -eu
cd "$(dirname "$0")"

request() { openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"; }
sign() { # name, extensions
    printf '%s\n' "$2" > "$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 36500 -extfile "$1.ext" -out "$1.pem"
    rm "$1.csr" "$1.ext"
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -subj "/CN=test authority" \
    -days 36500 -out ca.pem
openssl genrsa -out server.key 2048
request server
sign server "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1"
openssl ecparam -genkey -name prime256v1 -out server-ec.key # with its EC PARAMETERS block
request server-ec
sign server-ec "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1"
openssl genpkey -algorithm ed25519 -out server-ed25519.key
request server-ed25519
sign server-ed25519 "subjectAltName=DNS:localhost"
openssl ecparam -genkey -noout -name prime256v1 -out client.key
request client
sign client "subjectAltName=DNS:prometheus.example.org,email:ops@example.org,IP:192.0.2.7,URI:spiffe://example.org/a"
openssl pkey -in server.key -aes256 -passout pass:test -out server-encrypted.key
openssl rsa -in server.key -traditional -out server-pkcs1.key
cat server.pem ca.pem > chain.pem
cat ca.pem server.pem > chain-reversed.pem
{ echo "Text before."; cat server.key; echo "Text between."; cat server.pem; } > key-and-certificate.pem
{ sed 's/^M/!/' ca.pem; cat ca.pem; } > ca-one-broken.pem
echo "This is not a certificate." > ca-none.pem
: > empty.pem
rm ca.srl ca.key
