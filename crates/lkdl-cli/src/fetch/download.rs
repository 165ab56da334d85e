//! One file from one address, resumed where an earlier attempt broke off.
//!
//! Bytes go to a `.part` file. If there is one, the request asks for the rest (`Range`); a server
//! that answers with the whole file starts it anew. No more is ever written than the file is known
//! to have.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use ureq::http::{StatusCode, header};

const CHUNK: usize = 64 * 1024;

/// A server slower than this, in bytes per second, is as good as gone.
const SLOWEST: u64 = 4096;

/// How long to wait before giving up on a server.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the next byte.
    pub stall: Duration,
}

/// Why a download did not get to its end.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The server has no such file, or no wish to give it.
    #[error("the server answered {0}")]
    Status(StatusCode),
    /// The server has something else under this name.
    #[error("the file there has {found} bytes, not {expected}")]
    Size {
        /// What the server says.
        found: u64,
        /// What the file has.
        expected: u64,
    },
    /// The connection closed before the end; what came is kept.
    #[error("the connection closed after {0} bytes")]
    Truncated(u64),
    /// Nothing, or next to nothing, came for too long.
    #[error("the server sent nothing, or too little, for {:.1} s", .0.as_secs_f64())]
    Stalled(Duration),
    /// No connection, or a broken one.
    #[error("{0}")]
    Network(ureq::Error),
    /// The `.part` file cannot be written: no other server will mend that.
    #[error("{0}")]
    Disk(io::Error),
}

/// Downloads.
#[derive(Debug)]
pub struct Client {
    agent: ureq::Agent,
    patience: Patience,
}

impl Client {
    /// A client that gives up after `patience`. A proxy is used if the environment names one.
    pub fn new(patience: Patience) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("lkdl/", env!("CARGO_PKG_VERSION")))
            // a connection kept open may be closed by the time of the next request
            .max_idle_connections(0)
            .timeout_resolve(Some(patience.connect))
            .timeout_connect(Some(patience.connect))
            .timeout_per_read(Some(patience.stall))
            .timeout_per_write(Some(patience.stall))
            .build()
            .new_agent();
        Self { agent, patience }
    }

    /// Completes `part` to `expected` bytes from `url`; `progress` hears how many there are.
    pub fn complete(
        &self,
        url: &str,
        part: &Path,
        expected: u64,
        progress: &dyn Fn(u64),
    ) -> Result<(), Broken> {
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(part);
        let mut file = file.map_err(Broken::Disk)?;
        let mut have = file.seek(SeekFrom::End(0)).map_err(Broken::Disk)?;
        if have >= expected {
            // whole, or not a beginning of this file: the check of its sum decides
            return Ok(());
        }
        let mut request = self.agent.get(url);
        if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| self.broken(error))?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT if starts_at(&response, have) => {}
            // no ranges here, or another one: from the beginning
            StatusCode::OK => {
                have = 0;
                restart(&mut file).map_err(Broken::Disk)?;
            }
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                restart(&mut file).map_err(Broken::Disk)?;
                return Err(Broken::Truncated(0));
            }
            status => return Err(Broken::Status(status)),
        }
        let announced = response.body().content_length().map(|length| have + length);
        if let Some(found) = announced.filter(|found| *found != expected) {
            return Err(Broken::Size { found, expected });
        }
        let mut body = response.into_body().into_reader().take(expected - have + 1);
        let mut chunk = vec![0; CHUNK];
        let (start, before) = (Instant::now(), have);
        loop {
            progress(have);
            let allowed = Duration::from_secs((have - before) / SLOWEST);
            if start.elapsed() > self.patience.stall + allowed {
                return Err(Broken::Stalled(start.elapsed()));
            }
            let read = match body.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Err(match self.broken(ureq::Error::from(error)) {
                        Broken::Network(_) => Broken::Truncated(have),
                        stalled => stalled,
                    });
                }
            };
            have += read as u64;
            if have > expected {
                restart(&mut file).map_err(Broken::Disk)?;
                return Err(Broken::Size { found: have, expected });
            }
            file.write_all(&chunk[..read]).map_err(Broken::Disk)?;
        }
        if have < expected {
            return Err(Broken::Truncated(have));
        }
        file.sync_all().map_err(Broken::Disk)
    }

    fn broken(&self, error: ureq::Error) -> Broken {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                Broken::Stalled(self.patience.connect)
            }
            ureq::Error::Timeout(_) => Broken::Stalled(self.patience.stall),
            error => Broken::Network(error),
        }
    }
}

/// Whether a partial answer continues after `have` bytes.
fn starts_at<T>(response: &ureq::http::Response<T>, have: u64) -> bool {
    let range = response.headers().get(header::CONTENT_RANGE).and_then(|v| v.to_str().ok());
    let start = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next());
    start.and_then(|start| start.trim().parse().ok()) == Some(have)
}

fn restart(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()
}
