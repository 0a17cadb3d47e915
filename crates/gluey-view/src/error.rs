//! What can go wrong between the page and a run.

use std::io;
use std::path::PathBuf;

use gluey::trajectory::TrajectoryError;
use thiserror::Error;

/// Why a request has no answer, or the server does not start.
#[derive(Debug, Error)]
pub enum ViewError {
    /// The address cannot be listened to.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address asked for.
        address: String,
        /// What the system answered.
        cause: io::Error,
    },
    /// What follows the colon of the address is no port.
    #[error("cannot listen on {address}: `{port}` is no port; a port is a number below 65536, as in 127.0.0.1:8321")]
    Port {
        /// The address asked for.
        address: String,
        /// What stands in the place of the port.
        port: String,
    },
    /// The system has no random numbers, without which orders cannot be told from forged ones.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
    /// The system starts no thread to answer in.
    #[error("this machine starts no thread for the page, it is short of memory or of threads: {0}")]
    Thread(io::Error),
    /// A page of another site, or a name that was made to point here, asks.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The request is not one that the page makes.
    #[error("{0}")]
    Request(String),
    /// Nothing is at this path.
    #[error("there is nothing here")]
    Nothing,
    /// The request has a method that the page does not use.
    #[error("only GET, HEAD and POST are answered")]
    Method,
    /// There is no such run.
    #[error("there is no run `{0}` here")]
    NoRun(String),
    /// The run has no such frame any more, or yet.
    #[error("{} has no frame of step {step}", run.display())]
    NoFrame {
        /// The folder of the run.
        run: PathBuf,
        /// The step asked for.
        step: u64,
    },
    /// The run is over, or another process writes it.
    #[error("this run is not computed here: it can be watched, not steered")]
    NotLive,
    /// A scene could not be started.
    #[error("{0}")]
    Start(String),
    /// The folder of the run cannot be read.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
}

impl ViewError {
    /// The status of the answer.
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Forbidden(_) => 403,
            Self::Nothing | Self::NoRun(_) | Self::NoFrame { .. } => 404,
            Self::Method => 405,
            Self::NotLive => 409,
            Self::Request(_) | Self::Start(_) => 400,
            Self::Listen { .. } | Self::Port { .. } | Self::Random(_) | Self::Thread(_) | Self::Trajectory(_) => 500,
        }
    }
}
