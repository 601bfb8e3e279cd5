"""The faults of a feed with TLS: servers that are not whom they should be, or cut TLS off."""

import contextlib

from support.raw_feed import Behaviour, Peer


def secured(context, behaviour: Behaviour) -> Behaviour:
    def behave(peer: Peer) -> None:
        peer.secure(context)
        behaviour(peer)

    return behave


def refused_by_client(context) -> Behaviour:
    """The client does not come further than this."""

    def behave(peer: Peer) -> None:
        peer.fault()
        peer.secure(context)
        peer.read_request()
        raise AssertionError("the client asked a server that it cannot trust: " + peer.request)

    return behave


def plain_answer(peer: Peer) -> None:
    peer.fault()
    peer.socket.recv(1000)
    peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def silence(peer: Peer) -> None:
    peer.fault()
    peer.read_nothing()


def end_of_stream(peer: Peer) -> None:
    peer.fault()


def end_without_goodbye(peer: Peer) -> None:
    """The TCP connection ends inside TLS, as it does when somebody in between cuts it."""
    good_until_reading(peer)
    peer.end_sending()
    # From here on Python's socket knows nothing of TLS any more.
    with contextlib.suppress(OSError):
        while peer.socket.recv(1000):
            pass


def goodbye_of_tls_only(peer: Peer) -> None:
    good_until_reading(peer)
    # The client may hang up without a goodbye of its own.
    with contextlib.suppress(OSError):
        peer.socket.unwrap()


def good_until_reading(peer: Peer) -> None:
    peer.open()
    peer.send_reading(1)
    peer.wait_for_pong(b"before the fault")
    peer.fault()
