import pytest
from binnacle_testing import ApiError, start

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def test_objects_are_stored(kubernetes_api):
    kubernetes_api.request("POST", CONFIG_MAPS, config_map("a"))
    assert kubernetes_api.request("GET", f"{CONFIG_MAPS}/a")["metadata"]["name"] == "a"


def test_each_test_begins_anew(kubernetes_api):
    with pytest.raises(ApiError) as missing:
        kubernetes_api.request("GET", f"{CONFIG_MAPS}/a")
    assert missing.value.code == 404


def test_faults(kubernetes_api):
    kubernetes_api.inject_fault(verb="get", status=503, times=1)
    with pytest.raises(ApiError) as refused:
        kubernetes_api.request("GET", CONFIG_MAPS + "/a")
    assert refused.value.code == 503
    assert kubernetes_api.fault_report()[-1]["fault"]["status"] == 503


def test_fork(kubernetes_api):
    copy = kubernetes_api.fork()
    copy.request("POST", CONFIG_MAPS, config_map("only-in-copy"))
    with pytest.raises(ApiError):
        kubernetes_api.request("GET", CONFIG_MAPS + "/only-in-copy")


def test_clock_and_requests(kubernetes_api):
    kubernetes_api.advance_clock("2h")
    assert any(request["path"] == "/binnacle/testing/clock" for request in kubernetes_api.requests())


def test_kubeconfig_is_usable(kubeconfig, kubernetes_api):
    with open(kubeconfig, encoding="utf-8") as file:
        assert kubernetes_api.url in file.read()


def test_a_wrong_flag_says_why():
    with pytest.raises(RuntimeError, match="there is no flag --secure-prot"):
        start("--secure-prot=1")


def test_a_missing_executable_says_what_to_do(monkeypatch):
    monkeypatch.setenv("BINNACLE", "/nowhere/binnacle")
    with pytest.raises(RuntimeError, match="npm install --global binnacle"):
        start()
