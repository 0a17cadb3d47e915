//! As much of HTTP/1.1 as a page of our own needs: short requests, answers of known length, connections that stay open.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::connections::{Connections, Doing, Place};
use crate::reply::Reply;
use crate::request::{Request, RequestError};

/// How long a connection may stand idle; a page that is in the background asks every ten seconds.
const IDLE: Duration = Duration::from_mins(1);
/// How long a request may take to come, from its first byte.
const LATE: Duration = Duration::from_secs(10);
/// How long nothing of an answer may be taken, and how many bytes a second are expected beyond that.
const SLOW: Duration = Duration::from_secs(30);
const PACE: usize = 16 << 10;
/// Bytes of an answer that are sent at a time.
const PIECE: usize = 64 << 10;
/// How much is still read of what the other side has sent after the last answer, and how long.
const LONGEST_REST: u64 = 1 << 20;
const LINGER: Duration = Duration::from_secs(2);

/// What a request is answered with.
pub(crate) type Answer = dyn Fn(&Request) -> Reply + Send + Sync;
/// The conversation of one connection.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Runs a job in a thread of its own.
pub(crate) fn spawn(job: Job) -> io::Result<()> {
    thread::Builder::new().name("gluey page".to_owned()).spawn(job).map(drop)
}

/// Answers for as long as the listener lives, each connection in a thread of its own.
pub(crate) fn serve(listener: &TcpListener, answer: &Arc<Answer>, spawn: fn(Job) -> io::Result<()>) {
    let connections = Arc::new(Connections::default());
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => Arc::new(stream),
            // One that was given up before it was accepted.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) => continue,
            Err(_) => {
                connections.retreat(); // the process can open no more files, or the system has no memory for one more
                continue;
            }
        };
        let Some(place) = connections.place(&stream) else {
            turn_away(&stream, "too many viewers at once");
            continue;
        };
        let answer = Arc::clone(answer);
        let job = move || {
            let _ = converse(&place, &*answer); // a browser that goes away is no trouble
        };
        if spawn(Box::new(job)).is_err() {
            turn_away(&stream, "there is no thread for one more viewer: this machine is short of memory or of threads");
        }
    }
}

/// Tells somebody who gets no place, without waiting for them: others want to be accepted.
fn turn_away(stream: &TcpStream, why: &str) {
    let reply = Reply { status: 503, ..Reply::new("text/plain; charset=utf-8", why) };
    let told = || -> io::Result<u64> {
        stream.set_nonblocking(true)?;
        reply.write(stream, Part::All, "close")?;
        stream.shutdown(Shutdown::Write)?;
        // An answer is lost if the connection is closed while there is something to be read.
        io::copy(&mut stream.take(LONGEST_REST), &mut io::sink())
    };
    let _ = told(); // who has gone needs no answer
}

/// Reads from a connection until a moment.
struct Incoming<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Read for Incoming<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

/// Writes an answer, piece by piece: whoever takes none, or too few of them, is given up.
struct Outgoing<'a> {
    place: &'a Place,
    until: Instant,
}

impl Write for Outgoing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if Instant::now() >= self.until {
            return Err(ErrorKind::TimedOut.into());
        }
        let count = self.place.stream().write(&bytes[..bytes.len().min(PIECE)])?;
        self.place.now(Doing::Taking);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.place.stream().flush()
    }
}

/// Answers the requests of one connection.
fn converse(place: &Place, answer: &Answer) -> io::Result<()> {
    let stream = place.stream();
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(SLOW))?;
    let mut reader = BufReader::new(Incoming { stream, until: Instant::now() });
    loop {
        reader.get_mut().until = Instant::now() + IDLE;
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        reader.get_mut().until = Instant::now() + LATE;
        let request = match Request::read(&mut reader) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) => return refuse(place, reader, &error),
        };
        place.now(Doing::Asking);
        let reply = reply_of(answer, &request);
        place.now(Doing::Taking);
        // HEAD is answered as GET is, but for the body.
        let part = if request.method == "HEAD" { Part::Head } else { Part::All };
        let last = request.is_last();
        let pace = Duration::from_secs((reply.body.len() / PACE) as u64);
        let to = Outgoing { place, until: Instant::now() + SLOW + pace };
        reply.write(to, part, if last { "close" } else { "keep-alive" })?;
        place.now(Doing::Resting);
        if last {
            return part_from(reader);
        }
    }
}

/// The answer to a request, whatever happens on the way to it.
fn reply_of(answer: &Answer, request: &Request) -> Reply {
    // What is behind its locks stays whole, as each of them says; all else belongs to the request.
    catch_unwind(AssertUnwindSafe(|| answer(request))).unwrap_or_else(|_| {
        let told = "gluey failed at this request, by its own fault; where it was started, it has printed why";
        Reply { status: 500, ..Reply::new("text/plain; charset=utf-8", told) }
    })
}

/// Says what is wrong with a request, where somebody may still listen; where the next one would start nobody knows.
fn refuse(place: &Place, reader: BufReader<Incoming>, error: &RequestError) -> io::Result<()> {
    let status = match error {
        RequestError::Wrong(_) => 400,
        RequestError::Long(_) => 413,
        RequestError::Expects => 417,
        RequestError::Io(cause) if matches!(cause.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => 408,
        RequestError::Io(_) => return Ok(()), // nobody is there
    };
    let told =
        if status == 408 { format!("the request took longer than {} s", LATE.as_secs()) } else { error.to_string() };
    let reply = Reply { status, ..Reply::new("text/plain; charset=utf-8", told) };
    reply.write(place.stream(), Part::All, "close")?;
    part_from(reader)
}

/// Ends a connection so that its last answer arrives: it would be lost while there is something to be read.
fn part_from(mut reader: BufReader<Incoming>) -> io::Result<()> {
    reader.get_mut().stream.shutdown(Shutdown::Write)?;
    reader.get_mut().until = Instant::now() + LINGER;
    io::copy(&mut reader.take(LONGEST_REST), &mut io::sink())?;
    Ok(())
}

/// What of an answer is sent.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    All,
    Head,
}

impl Reply {
    fn write(&self, mut to: impl Write, part: Part, connection: &str) -> io::Result<()> {
        let mut head = Vec::new(); // sent at once: small packets wait for each other
        write!(head, "HTTP/1.1 {} {}\r\n", self.status, reason(self.status))?;
        for (name, value) in self.headers() {
            write!(head, "{name}: {value}\r\n")?;
        }
        if self.status != 204 {
            write!(head, "Content-Length: {}\r\n", self.body.len())?; // none where there never is a body
        }
        write!(head, "Connection: {connection}\r\n\r\n")?;
        to.write_all(&head)?;
        if part == Part::All {
            to.write_all(&self.body)?;
        }
        to.flush()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        417 => "Expectation Failed",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
