"""Certificates made by openssl's command."""

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

    def server_context(self, client_authority: "CertificateAuthority | None" = None) -> ssl.SSLContext:
        """For a server; with an authority, clients have to show a certificate of it."""
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
            "req", "-x509", *KEY, "-keyout", self._key, "-out", self.file, "-days", "10", "-subj", "/CN=Authority",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def issue(self, name: str, names: str = "IP:127.0.0.1,DNS:localhost", is_expired: bool = False) -> Certificate:
        """`names`: as openssl's subjectAltName has them."""
        request, key, file = (self.folder / f"{name}.{end}" for end in ("csr", "key", "pem"))
        openssl("req", *KEY, "-keyout", key, "-out", request, "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}")
        openssl(
            "ca", "-batch", "-notext", "-config", self._configuration, "-cert", self.file, "-keyfile", self._key,
            "-in", request, "-out", file, "-startdate", "20200101000000Z",
            "-enddate", "20200201000000Z" if is_expired else "20491231235959Z")
        return Certificate(file, key)


KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(*arguments) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
