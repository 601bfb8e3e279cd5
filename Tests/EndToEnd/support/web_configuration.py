"""The web configuration file, and curl for an exporter that has one."""

import socket
import ssl

from support.certificates import Certificate, CertificateAuthority
from support.curl import TLS_FAILURES, CurlError, curl
from support.waiting import wait_for

# bcrypt with the lowest cost.
HASHES = {
    "secret": "$2y$04$Cg00Cv.DEAqayriMAZMKa.bvAjKtL.2M8adi3oLiRY6AaQDeQKWZ6",
    "other": "$2y$04$VRz7foGEEo533VZOaIhU4eZ6Wd.F2HkbNu.BnpMVg04PVrHtUziKe",
    "pass wörd: $x": "$2y$04$cv6LvX4.JklIbEMyT4ZX8uXKWTL.XUO48ML1H4ZrlnVWR1dDY.sKa",
}


def tls(server: Certificate, **more) -> dict:
    return {
        "tls_server_config": {"cert_file": str(server.file), "key_file": str(server.key)} | more
    }


def users(**passwords: str) -> dict:
    return {"basic_auth_users": {user: HASHES[password] for user, password in passwords.items()}}


class Client:
    """curl for one exporter."""

    def __init__(self, exporter, authority: CertificateAuthority | None = None):
        scheme, self.trust = (
            ("https", ("--cacert", str(authority.file))) if authority else ("http", ())
        )
        self.base = f"{scheme}://{exporter.address}"

    def __call__(self, path: str = "/metrics", *options: str):
        return curl(self.base + path, *self.trust, *options)

    def status(self, path: str = "/metrics", *options: str) -> int | str:
        """The status, or "refused" if TLS failed."""
        try:
            return self(path, *options).status
        except CurlError as error:
            assert error.status in TLS_FAILURES, error
            return "refused"


def handshake(exporter, authority, protocols: tuple[str, ...] = ()) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=authority.file)
    if protocols:
        context.set_alpn_protocols(protocols)
    plain = socket.create_connection(("127.0.0.1", exporter.port), 30)
    try:
        return context.wrap_socket(plain, server_hostname="localhost")
    except Exception:
        plain.close()
        raise


def expect_healthcheck(programs, address: str, file: str | None = None) -> None:
    flags = ["--web.listen-address", address] + (["--web.config.file", file] if file else [])
    expect_success(programs, "air-quality-exporter", "healthcheck", *flags)
    expect_success(programs, "air-quality-exporter", "healthcheck", "--ready", *flags)


def expect_success(programs, *command: str, **options) -> None:
    """Expects a health check to succeed with one line, once the exporter is ready."""

    def check() -> bool:
        ended = programs.run(*command, **options)
        assert len(ended.output + ended.errors) == 1
        return ended.process.returncode == 0

    wait_for(check, "a healthy response", pause=0.1)
