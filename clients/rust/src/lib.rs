//! A real Kubernetes API server for tests: in memory, without containers, with faults, a clock that moves, resets and copies.
//!
//! ```no_run
//! # async fn example() -> Result<(), binnacle_testing::Error> {
//! let server = binnacle_testing::Binnacle::start().await?;
//! let client = server.client(); // a kube::Client of the administrator
//! # Ok(())
//! # }
//! ```
//!
//! The executable is the one that the environment variable `BINNACLE` names, or `binnacle` in the `PATH`.

mod process;

use std::time::Duration;

use http::Request;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{json, Value};

use process::Process;

/// Why a server did not start, or did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0} is not installed: run `npm install --global binnacle`, or let BINNACLE name the executable")]
    Missing(String),
    #[error("binnacle did not start: {0}")]
    Start(String),
    #[error(transparent)]
    Kubeconfig(#[from] kube::config::KubeconfigError),
    #[error(transparent)]
    Client(#[from] kube::Error),
    #[error(transparent)]
    Request(#[from] http::Error),
}

/// A running server, or a copy of one. It ends when it is dropped; a copy ends with its server.
pub struct Binnacle {
    kubeconfig: String,
    client: Client,
    _process: Option<Process>,
}

impl Binnacle {
    /// Starts a server.
    pub async fn start() -> Result<Self, Error> {
        Self::start_with(&[]).await
    }

    /// Starts a server with further flags of `binnacle serve`.
    pub async fn start_with(flags: &[&str]) -> Result<Self, Error> {
        let process = Process::start(flags).await?;
        let kubeconfig = process.kubeconfig()?;
        Self::new(kubeconfig, Some(process)).await
    }

    async fn new(kubeconfig: String, process: Option<Process>) -> Result<Self, Error> {
        let parsed = Kubeconfig::from_yaml(&kubeconfig)?;
        let config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await?;
        let client = Client::try_from(config)?;
        Ok(Self {
            kubeconfig,
            client,
            _process: process,
        })
    }

    /// A client with the access of the administrator.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The access of the administrator, as text.
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// `inject_fault(json!({"verb": "update", "resource": "widgets", "status": 409, "times": 1}))`
    pub async fn inject_fault(&self, fault: Value) -> Result<(), Error> {
        self.testing("POST", "/faults", fault).await.map(drop)
    }

    pub async fn clear_faults(&self) -> Result<(), Error> {
        self.testing("DELETE", "/faults", Value::Null)
            .await
            .map(drop)
    }

    /// What was injected into which request.
    pub async fn fault_report(&self) -> Result<Vec<Value>, Error> {
        let mut answer = self.testing("GET", "/faults", Value::Null).await?;
        Ok(take_list(&mut answer, "report"))
    }

    /// A mixture of faults that is the same for the same seed and the same requests.
    pub async fn chaos(&self, seed: u32) -> Result<(), Error> {
        self.testing("POST", "/chaos", json!({ "seed": seed }))
            .await
            .map(drop)
    }

    pub async fn advance_clock(&self, by: Duration) -> Result<(), Error> {
        let milliseconds = by.as_millis() as u64;
        self.testing("POST", "/clock", json!({ "advance": milliseconds }))
            .await
            .map(drop)
    }

    /// `move_clock_to("2030-01-01T00:00:00Z")`
    pub async fn move_clock_to(&self, time: &str) -> Result<(), Error> {
        self.testing("POST", "/clock", json!({ "moveTo": time }))
            .await
            .map(drop)
    }

    /// Lets the time run, `scale` times as fast as usual.
    pub async fn run_clock(&self, scale: f64) -> Result<(), Error> {
        self.testing("POST", "/clock", json!({ "run": scale }))
            .await
            .map(drop)
    }

    pub async fn freeze_clock(&self) -> Result<(), Error> {
        self.testing("POST", "/clock", json!({ "freeze": true }))
            .await
            .map(drop)
    }

    pub async fn snapshot(&self, name: &str) -> Result<(), Error> {
        self.testing("POST", "/snapshots", json!({ "name": name }))
            .await
            .map(drop)
    }

    /// Goes back to a snapshot, or to the state after the start.
    pub async fn reset(&self, snapshot: Option<&str>) -> Result<(), Error> {
        let body = snapshot.map_or(json!({}), |name| json!({ "name": name }));
        self.testing("POST", "/reset", body).await.map(drop)
    }

    /// Every old resourceVersion is answered 410 from now on.
    pub async fn compact_history(&self) -> Result<(), Error> {
        self.testing("POST", "/history/compact", Value::Null)
            .await
            .map(drop)
    }

    /// The requests that the server was sent.
    pub async fn requests(&self) -> Result<Vec<Value>, Error> {
        let mut answer = self.testing("GET", "/requests", Value::Null).await?;
        Ok(take_list(&mut answer, "requests"))
    }

    /// A client of a user without permissions beyond those of the groups.
    pub async fn create_user(&self, name: &str, groups: &[&str]) -> Result<Client, Error> {
        let user = json!({ "name": name, "groups": groups });
        let created = self.testing("POST", "/users", user).await?;
        Ok(Self::new(text_of(&created, "kubeconfig"), None).await?.client)
    }

    /// `report` is about what happens from now on.
    pub async fn record(&self) -> Result<(), Error> {
        self.testing("POST", "/recording", Value::Null)
            .await
            .map(drop)
    }

    /// The last requests and the objects that changed, as text: to be printed when a test fails.
    pub async fn report(&self) -> Result<String, Error> {
        let recording = self.testing("GET", "/recording", Value::Null).await?;
        Ok(text_of(&recording, "report"))
    }

    /// An independent copy with the same objects. It ends with the server that it is a copy of.
    pub async fn fork(&self) -> Result<Self, Error> {
        let copy = self.testing("POST", "/forks", Value::Null).await?;
        Self::new(text_of(&copy, "kubeconfig"), None).await
    }

    async fn testing(&self, method: &str, path: &str, body: Value) -> Result<Value, Error> {
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = Request::builder()
            .method(method)
            .uri(format!("/binnacle/testing{path}"))
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(bytes)?;
        Ok(self.client.request::<Value>(request).await?)
    }
}

fn text_of(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap_or_default().to_owned()
}

fn take_list(answer: &mut Value, name: &str) -> Vec<Value> {
    match answer[name].take() {
        Value::Array(list) => list,
        _ => Vec::new(),
    }
}
