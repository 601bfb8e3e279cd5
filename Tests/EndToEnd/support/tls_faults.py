"""The faults of a feed over TLS: servers that cannot be trusted, or cut TLS off."""

import contextlib

from support.raw_feed import Behaviour, Peer


def secured(context, behaviour: Behaviour) -> Behaviour:
    def behave(peer: Peer) -> None:
        peer.secure(context)
        behaviour(peer)

    return behave


def rejected_by_client(context) -> Behaviour:
    """The client must end the handshake."""

    def behave(peer: Peer) -> None:
        peer.fault()
        peer.secure(context)
        peer.read_request()
        raise AssertionError("the client asked a server that it cannot trust: " + peer.request)

    return behave


def silence(peer: Peer) -> None:
    peer.fault()
    peer.read_nothing()


def end_of_stream(peer: Peer) -> None:
    peer.fault()


def end_without_close_notify(peer: Peer) -> None:
    """The TCP connection ends inside TLS, as when something in between cuts it."""
    good_until_reading(peer)
    peer.end_sending()
    # From here on, Python's socket no longer knows of TLS.
    with contextlib.suppress(OSError):
        while peer.socket.recv(1000):
            pass


def only_close_notify(peer: Peer) -> None:
    good_until_reading(peer)
    # The client may close the connection without its own close_notify.
    with contextlib.suppress(OSError):
        peer.socket.unwrap()


def good_until_reading(peer: Peer) -> None:
    peer.open()
    peer.send_reading(1)
    peer.wait_for_pong(b"before the fault")
    peer.fault()
