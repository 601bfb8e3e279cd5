"""Certificates of feeds."""

import pytest


@pytest.fixture(scope="module")
def contexts(authority):
    """The identities that a server can present."""
    return {
        "good": authority.issue("server").server_context(),
        "expired": authority.issue("expired", is_expired=True).server_context(),
        "for another name": authority.issue(
            "other", "DNS:feed.example,IP:127.0.0.9"
        ).server_context(),
        "not asking": authority.issue("asking").server_context(client_authority=authority),
    }
