//! What a server and its copies do for a test.

use std::time::Duration;

use binnacle_testing::{Binnacle, Error};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, PostParams};
use serde_json::json;

fn config_map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        ..Default::default()
    };
    ConfigMap {
        metadata,
        ..Default::default()
    }
}

#[tokio::test]
async fn copies_are_independent_and_a_reset_goes_back() -> Result<(), Error> {
    let server = Binnacle::start().await?;
    let copy = server.fork().await?;
    let in_copy: Api<ConfigMap> = Api::default_namespaced(copy.client());
    in_copy
        .create(&PostParams::default(), &config_map("only-in-copy"))
        .await?;
    let maps: Api<ConfigMap> = Api::default_namespaced(server.client());
    assert!(maps.get_opt("only-in-copy").await?.is_none());
    maps.create(&PostParams::default(), &config_map("before"))
        .await?;
    copy.inject_fault(json!({ "verb": "list", "status": 500 }))
        .await?;
    assert!(in_copy.list(&Default::default()).await.is_err());
    assert!(maps.list(&Default::default()).await.is_ok());
    assert!(server.report().await?.contains("POST /api/v1/namespaces"));
    let jane: Api<ConfigMap> = Api::all(server.create_user("jane", &["devs"]).await?);
    assert!(jane.list(&Default::default()).await.is_err());
    server.reset(None).await?;
    assert!(maps.get_opt("before").await?.is_none());
    server.advance_clock(Duration::from_secs(3600)).await?;
    server.move_clock_to("2100-01-01T00:00:00Z").await?;
    server.run_clock(60.0).await?;
    let paths: Vec<_> = server
        .requests()
        .await?
        .iter()
        .map(|request| request["path"].to_string())
        .collect();
    assert!(paths
        .iter()
        .any(|path| path.contains("/binnacle/testing/clock")));
    Ok(())
}

#[tokio::test]
async fn a_wrong_flag_says_why() {
    let refused = Binnacle::start_with(&["--secure-prot=1"])
        .await
        .err()
        .expect("an error");
    assert!(
        refused
            .to_string()
            .contains("there is no flag --secure-prot"),
        "{refused}"
    );
}
