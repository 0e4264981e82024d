"""The fixtures."""

import pytest

from .server import start


@pytest.fixture(scope="session")
def kubernetes_server():
    """One server for the whole run."""
    with start() as server:
        yield server


@pytest.fixture
def kubernetes_api(kubernetes_server):
    """The server with the state after its start, and without faults."""
    kubernetes_server.clear_faults()
    kubernetes_server.reset()
    return kubernetes_server


@pytest.fixture
def kubeconfig(kubernetes_api):
    """The path of the administrator's kubeconfig."""
    return kubernetes_api.kubeconfig
