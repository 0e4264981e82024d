"""The fixtures."""

import pytest

from .server import start


@pytest.fixture(scope="session")
def kubernetes_server():
    """One server for the whole run. What it holds is there in every test."""
    with start() as server:
        yield server


@pytest.fixture
def kubernetes_api(kubernetes_server):
    """A copy of that server for one test, with objects, faults, a clock and requests of its own."""
    with kubernetes_server.fork() as copy:
        yield copy


@pytest.fixture
def kubeconfig(kubernetes_api):
    """The path of the administrator's kubeconfig."""
    return kubernetes_api.kubeconfig


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the requests and the changed objects to what pytest prints of a test that failed."""
    outcome = yield
    report = outcome.get_result()
    server = getattr(item, "funcargs", {}).get("kubernetes_api")
    if call.when == "call" and report.failed and server is not None:
        report.sections.append(("Kubernetes API", _report_of(server)))


def _report_of(server):
    try:
        return server.report()
    except Exception as error:  # The server may be why the test failed.
        return f"no report: {error}"
