//! A small operator, tested against a real API: it writes the length of the key "text" into the key "length".

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use binnacle_testing::{Binnacle, Error};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::{wait, watcher};
use kube::Client;
use serde_json::json;

fn config_map(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    let data: BTreeMap<_, _> = data
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        ..Default::default()
    };
    ConfigMap {
        metadata,
        data: Some(data),
        ..Default::default()
    }
}

async fn reconcile(map: Arc<ConfigMap>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let text = map.data.as_ref().and_then(|data| data.get("text"));
    if let (Some(text), Some(name)) = (text, map.metadata.name.as_deref()) {
        let maps: Api<ConfigMap> = Api::default_namespaced((*client).clone());
        let change = Patch::Merge(json!({ "data": { "length": text.len().to_string() } }));
        maps.patch(name, &PatchParams::default(), &change).await?;
    }
    Ok(Action::await_change())
}

fn retry(_: Arc<ConfigMap>, _: &kube::Error, _: Arc<Client>) -> Action {
    Action::requeue(Duration::from_millis(20))
}

fn run_operator(client: Client) -> tokio::task::JoinHandle<()> {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let controller = Controller::new(maps, watcher::Config::default());
    tokio::spawn(
        controller
            .run(reconcile, retry, Arc::new(client))
            .for_each(|_| async {}),
    )
}

fn has_length(map: Option<&ConfigMap>) -> bool {
    map.and_then(|map| map.data.as_ref())
        .is_some_and(|data| data.contains_key("length"))
}

#[tokio::test]
async fn the_operator_retries_when_a_patch_fails() -> Result<(), Error> {
    let server = Binnacle::start().await?;
    server
        .inject_fault(
            json!({ "verb": "patch", "resource": "configmaps", "status": 503, "times": 2 }),
        )
        .await?;
    let maps: Api<ConfigMap> = Api::default_namespaced(server.client());
    maps.create(
        &PostParams::default(),
        &config_map("a", &[("text", "four")]),
    )
    .await?;
    let operator = run_operator(server.client());
    let done = wait::await_condition(maps.clone(), "a", has_length);
    tokio::time::timeout(Duration::from_secs(20), done)
        .await
        .expect("in time")
        .expect("a watch");
    operator.abort();
    assert_eq!(maps.get("a").await?.data.unwrap()["length"], "4");
    assert_eq!(server.fault_report().await?.len(), 2);
    Ok(())
}
