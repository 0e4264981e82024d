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
    with kubernetes_api.fork() as copy:
        copy.request("POST", CONFIG_MAPS, config_map("only-in-copy"))
        with pytest.raises(ApiError):
            kubernetes_api.request("GET", CONFIG_MAPS + "/only-in-copy")
        copy.inject_fault(verb="get", status=503)
        kubernetes_api.request("GET", CONFIG_MAPS)
    with pytest.raises(OSError):
        copy.request("GET", CONFIG_MAPS)


@pytest.fixture(scope="module")
def prepared(kubernetes_server):
    kubernetes_server.request("POST", CONFIG_MAPS, config_map("prepared"))
    yield kubernetes_server
    kubernetes_server.reset()


def test_what_the_server_holds_is_in_every_test(prepared, kubernetes_api):
    kubernetes_api.request("DELETE", CONFIG_MAPS + "/prepared")


def test_and_in_the_next_one(prepared, kubernetes_api):
    kubernetes_api.request("DELETE", CONFIG_MAPS + "/prepared")


def test_users(kubernetes_api):
    user = kubernetes_api.create_user("jane", ["devs"])
    assert user["name"] == "jane"
    assert user["token"] in user["kubeconfig"]


def test_clock_and_requests(kubernetes_api):
    kubernetes_api.freeze_clock()
    kubernetes_api.move_clock_to("2100-01-01T00:00:00Z")
    made = kubernetes_api.request("POST", CONFIG_MAPS, config_map("later"))
    assert made["metadata"]["creationTimestamp"] == "2100-01-01T00:00:00Z"
    kubernetes_api.run_clock(60)
    assert any(request["path"] == "/binnacle/testing/clock" for request in kubernetes_api.requests())


def test_kubeconfig_is_usable(kubeconfig, kubernetes_api):
    with open(kubeconfig, encoding="utf-8") as file:
        assert kubernetes_api.url in file.read()


def test_a_failed_test_says_what_it_asked_for(pytester, kubernetes_server):
    pytester.makepyfile(
        """
        def test_fails(kubernetes_api):
            path = "/api/v1/namespaces/default/configmaps"
            kubernetes_api.request("POST", path, {"metadata": {"name": "made"}})
            assert False
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "binnacle_testing.plugin")
    result.stdout.fnmatch_lines(
        ["*Kubernetes API*", "*201 POST */configmaps *", "*created /configmaps/default/made"]
    )


def test_a_wrong_flag_says_why():
    with pytest.raises(RuntimeError, match="there is no flag --secure-prot"):
        start("--secure-prot=1")


def test_a_missing_executable_says_what_to_do(monkeypatch):
    monkeypatch.setenv("BINNACLE", "/nowhere/binnacle")
    with pytest.raises(RuntimeError, match="npm install --global binnacle"):
        start()
