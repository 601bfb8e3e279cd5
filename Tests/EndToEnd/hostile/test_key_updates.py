"""A `wss://` feed that makes the client write TLS records and hardly reads them."""

import contextlib
import ctypes
import ctypes.util
import re
import socket
import threading

from support import metrics, raw_feed
from support.certificates import CertificateAuthority

TLS = ctypes.CDLL(ctypes.util.find_library("ssl"))
for function in (TLS.TLS_server_method, TLS.SSL_CTX_new, TLS.SSL_new):
    function.restype = ctypes.c_void_p
PEM, UPDATE_REQUESTED = 1, 1


class KeyUpdater:
    """Completes the handshake of one client, then requests key updates over and over."""

    def __init__(self, certificate: str, key: str):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.port = self.listener.getsockname()[1]
        self.context = ctypes.c_void_p(TLS.SSL_CTX_new(ctypes.c_void_p(TLS.TLS_server_method())))
        assert TLS.SSL_CTX_use_certificate_chain_file(self.context, certificate.encode()) == 1
        assert TLS.SSL_CTX_use_PrivateKey_file(self.context, key.encode(), PEM) == 1
        self.updates = 0
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        connection, _ = self.listener.accept()
        session = ctypes.c_void_p(TLS.SSL_new(self.context))
        TLS.SSL_set_fd(session, connection.fileno())
        assert TLS.SSL_accept(session) == 1
        request = ctypes.create_string_buffer(8192)
        count = TLS.SSL_read(session, request, len(request))
        key = re.search(rb"Sec-WebSocket-Key: (\S+)", request.raw[:count])[1].decode()
        response = raw_feed.switching(raw_feed.accept(key))
        assert TLS.SSL_write(session, response, len(response)) == len(response)
        while (
            TLS.SSL_key_update(session, UPDATE_REQUESTED) == 1
            and TLS.SSL_do_handshake(session) == 1
        ):
            self.updates += 1
            # It reads a little, as a slow server does.
            if self.updates % 1000 == 0:
                with contextlib.suppress(BlockingIOError):
                    connection.recv(1024, socket.MSG_DONTWAIT)
        connection.close()


def test_a_feed_that_does_not_read_key_update_responses_is_disconnected(start, tmp_path):
    authority = CertificateAuthority(tmp_path / "authority")
    certificate = authority.issue("server")
    feed = KeyUpdater(str(certificate.file), str(certificate.key))
    flags = (f"--feed.ca-file={authority.file}", "--feed.reconnect-min=1h")
    exporter = start.exporter(
        f"--feed.url=wss://localhost:{feed.port}/", *flags, "--feed.reconnect-max=1h"
    )
    before = exporter.resident_bytes
    exporter.wait_for_sample(metrics.DISCONNECTS, at_least=1, seconds=120, reason="protocol")
    assert exporter.scrape().nonzero(metrics.DISCONNECTS, "reason") == {"protocol": 1}
    assert feed.updates > 1000
    assert exporter.resident_bytes < before + (32 << 20)
