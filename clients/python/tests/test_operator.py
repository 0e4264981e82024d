"""A whole example: a small operator with the client of Kubernetes, and its test."""

import threading

import pytest

pytest.importorskip("kubernetes", reason="needs pip install kubernetes")
from kubernetes import client, config, watch  # noqa: E402


def run_operator(core):
    """Writes the length of the key "text" of each ConfigMap into its key "length"."""
    for event in watch.Watch().stream(core.list_namespaced_config_map, "default", timeout_seconds=60):
        data = event["object"].data or {}
        if event["type"] != "DELETED" and "text" in data and "length" not in data:
            write_length(core, event["object"].metadata.name, len(data["text"]))


def write_length(core, name, length):
    while True:
        try:
            return core.patch_namespaced_config_map(name, "default", {"data": {"length": str(length)}})
        except client.ApiException as error:
            if error.status != 409:
                raise


@pytest.fixture
def core(kubeconfig):
    config.load_kube_config(kubeconfig)
    return client.CoreV1Api()


def test_the_operator_retries_conflicts(core, kubernetes_api):
    kubernetes_api.inject_fault(verb="patch", resource="configmaps", status=409, times=2)
    threading.Thread(target=run_operator, args=[core], daemon=True).start()
    core.create_namespaced_config_map("default", {"metadata": {"name": "a"}, "data": {"text": "four"}})
    events = watch.Watch().stream(
        core.list_namespaced_config_map, "default", field_selector="metadata.name=a", timeout_seconds=10
    )
    assert next(event["object"].data["length"] for event in events if "length" in event["object"].data) == "4"
    injected = [each["fault"]["status"] for each in kubernetes_api.fault_report() if each["verb"] == "patch"]
    assert injected == [409, 409]
