"""Requests by curl: TLS, certificates, passwords and unix sockets as its users specify them."""

import json
import subprocess

from support.responses import Response


class CurlError(Exception):
    """curl got no response; `status` is its exit status (EXIT CODES in curl(1))."""

    def __init__(self, status: int, line: str):
        super().__init__(f"curl ended with {status}: {line}")
        self.status = status


COULD_NOT_CONNECT, BAD_PEER_CERTIFICATE = 7, 60
# In the handshake or, with TLS 1.3, at the first bytes after it. 60 also stands for the alert that
# a client certificate has expired.
TLS_FAILURES = (35, 52, 55, 56, BAD_PEER_CERTIFICATE)


def curl(url: str, *options: str, seconds: int = 30) -> Response:
    """One request, without redirects and without the user's configuration."""
    command = ["curl", "--disable", "--silent", "--show-error", "--max-time", str(seconds)]
    command += ["--write-out", "%{stderr}%{json}\n%{header_json}", *options, url]
    ended = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    if ended.returncode != 0:
        raise CurlError(ended.returncode, ended.stderr.decode(errors="replace").splitlines()[0])
    said, _, headers = ended.stderr.decode().partition("\n")
    return Response(
        json.loads(said)["response_code"],
        {name.title(): ", ".join(values) for name, values in json.loads(headers).items()},
        ended.stdout,
    )
