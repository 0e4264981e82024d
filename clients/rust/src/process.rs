//! The executable, started with its objects in memory and its files in a temporary directory.

use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::Error;

const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Ends when it is dropped: the objects are in memory, so that nothing needs to be written before.
pub(crate) struct Process {
    directory: TempDir,
    _child: Child,
}

impl Process {
    pub(crate) async fn start(flags: &[&str]) -> Result<Self, Error> {
        let program = std::env::var("BINNACLE").unwrap_or_else(|_| "binnacle".to_owned());
        let mut words = program.split_whitespace();
        let name = words.next().unwrap_or("binnacle").to_owned();
        let directory = tempfile::Builder::new()
            .prefix("binnacle-")
            .tempdir()
            .map_err(start_error)?;
        let errors = directory.path().join("stderr");
        let mut child = Command::new(&name)
            .args(words)
            .args(["serve", "--testing", "--stop-with-stdin", "--secure-port=0"])
            .arg(format!("--data-dir={}", directory.path().display()))
            .args(flags)
            // It ends with this program, so that the server stops also when the test is killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&errors).map_err(start_error)?)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Error::Missing(name),
                _ => start_error(error),
            })?;
        if !is_ready(&mut child).await {
            let _ = child.kill().await;
            let reason = std::fs::read_to_string(&errors).unwrap_or_default();
            return Err(Error::Start(reason.trim().to_owned()));
        }
        Ok(Self {
            directory,
            _child: child,
        })
    }

    pub(crate) fn kubeconfig(&self) -> Result<String, Error> {
        std::fs::read_to_string(self.directory.path().join("kubeconfig")).map_err(start_error)
    }
}

/// The first line says it. The other end of the pipe stays open, since the server ends with an error if it cannot write.
async fn is_ready(child: &mut Child) -> bool {
    let Some(stdout) = child.stdout.as_mut() else {
        return false;
    };
    let mut line = String::new();
    let mut reader = BufReader::new(stdout);
    let read = tokio::time::timeout(START_TIMEOUT, reader.read_line(&mut line)).await;
    read.is_ok() && line.contains("ready at ")
}

fn start_error(error: std::io::Error) -> Error {
    Error::Start(error.to_string())
}
