"""Certificates and web configuration files."""

import json

import pytest

from support.certificates import Certificate


@pytest.fixture(scope="module")
def server(authority) -> Certificate:
    return authority.issue("server")


@pytest.fixture(scope="module")
def clients(authority, stranger) -> dict[str, tuple[str, ...]]:
    """curl's options for clients without a certificate and with certificates of several kinds."""
    issued = {
        "trusted": authority.issue(
            "client", "DNS:prometheus.example,URI:spiffe://example/prometheus,IP:10.1.2.3"
        ),
        # As a common OpenSSL recipe makes them: for key encipherment, not for signatures.
        "of the recipe": authority.issue("recipe", usage="keyEncipherment,dataEncipherment"),
        "foreign": stranger.issue("client", "DNS:prometheus.example"),
        "expired": authority.issue("expired", "DNS:prometheus.example", is_expired=True),
    }
    options = {
        name: ("--cert", str(found.file), "--key", str(found.key)) for name, found in issued.items()
    }
    return {"none": ()} | options


@pytest.fixture
def web(tmp_path):
    """Replaces the file atomically, as editors and Kubernetes do. JSON is also YAML."""

    def write(content: dict | str) -> str:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (tmp_path / "new").write_text(text)
        (tmp_path / "new").replace(tmp_path / "web.yml")
        return str(tmp_path / "web.yml")

    return write
