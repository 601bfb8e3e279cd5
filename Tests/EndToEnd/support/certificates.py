"""Certificates made with the openssl command."""

import dataclasses
import pathlib
import ssl
import subprocess

CONFIGURATION = """\
[ca]
default_ca = own
[own]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
"""


@dataclasses.dataclass
class Certificate:
    file: pathlib.Path
    key: pathlib.Path

    @property
    def der(self) -> bytes:
        return ssl.PEM_cert_to_DER_cert(self.file.read_text())

    def server_context(self, client_authority=None) -> ssl.SSLContext:
        """The context of a server; with an authority, clients must present a certificate of it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        if client_authority:
            context.load_verify_locations(client_authority.file)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


class CertificateAuthority:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir()
        self.file = folder / "authority.pem"
        self._key = folder / "authority.key"
        self._configuration = folder / "openssl.cnf"
        self._configuration.write_text(CONFIGURATION.format(folder=folder))
        (folder / "index.txt").touch()
        openssl(
            "req", "-x509", "-newkey", *KEYS["P-256"], "-nodes", "-keyout", self._key, "-out",
            self.file, "-days", "10", "-subj", "/CN=Authority", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign",
        )

    def issue(
        self,
        name: str,
        names: str = "IP:127.0.0.1,DNS:localhost",
        is_expired: bool = False,
        kind: str = "P-256",
        usage: str | None = None,
    ) -> Certificate:
        """`names` and `usage`: as in openssl's subjectAltName and keyUsage; `kind`: one of
        `KEYS`."""
        request, key, file = (self.folder / f"{name}.{end}" for end in ("csr", "key", "pem"))
        extensions = [f"subjectAltName={names}"] + ([f"keyUsage={usage}"] if usage else [])
        openssl(
            "req", "-newkey", *KEYS[kind], "-nodes", "-keyout", key, "-out", request, "-subj",
            f"/CN={name}",
            *(argument for extension in extensions for argument in ("-addext", extension)),
        )
        openssl(
            "ca", "-batch", "-notext", "-config", self._configuration, "-cert", self.file,
            "-keyfile", self._key, "-in", request, "-out", file, "-startdate", "20200101000000Z",
            "-enddate", "20200201000000Z" if is_expired else "20491231235959Z",
        )
        return Certificate(file, key)


#: The arguments of openssl's `-newkey`.
KEYS = {
    "RSA": ("rsa:2048",),
    "RSA-PSS": ("rsa-pss", "-pkeyopt", "rsa_keygen_bits:2048"),
    "Ed25519": ("ed25519",),
    "Ed448": ("ed448",),
} | {
    curve: ("ec", "-pkeyopt", f"ec_paramgen_curve:{curve}")
    for curve in ("P-224", "P-256", "P-384", "P-521", "secp256k1")
}


def openssl(*arguments) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
