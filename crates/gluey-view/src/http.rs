//! As much of HTTP/1.1 as a page of our own needs: short requests, answers of known length, connections that stay open.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::reply::Reply;

/// Connections at the same time; a browser opens six.
const MOST: usize = 96;
/// Bytes of a request before its body.
const LONGEST_HEAD: usize = 16 << 10;
/// Bytes of an order.
const LONGEST_BODY: usize = 4 << 10;
const HEADERS: usize = 64;
/// How long a connection may stand idle, and how long a browser may take to accept an answer.
const IDLE: Duration = Duration::from_mins(2);
const SLOW: Duration = Duration::from_secs(30);
/// How much of a request that was refused is read, and how long is waited for more of it.
const LONGEST_REST: u64 = 1 << 20;
const LINGER: Duration = Duration::from_secs(2);

/// A request.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Answers for as long as the listener lives, each connection in a thread of its own.
pub(crate) fn serve(listener: &TcpListener, answer: &Arc<dyn Fn(&Request) -> Reply + Send + Sync>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue }; // one that was given up before it was accepted
        let (answer, open) = (Arc::clone(answer), Arc::clone(&open));
        if open.fetch_add(1, Ordering::SeqCst) >= MOST {
            open.fetch_sub(1, Ordering::SeqCst);
            let full = Reply { status: 503, ..Reply::new("text/plain", "too many viewers at once") };
            let _ = full.write(&stream, Part::All, "close"); // who has gone needs no answer
            continue;
        }
        thread::spawn(move || {
            let _ = converse(&stream, &*answer); // a browser that goes away is no trouble
            open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Answers the requests of one connection.
fn converse(stream: &TcpStream, answer: &dyn Fn(&Request) -> Reply) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(SLOW))?;
    let mut reader = BufReader::new(stream);
    loop {
        let request = match read(&mut reader) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) => return refuse(stream, &mut reader, error),
        };
        let last = request.header("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        let reply = answer(&request);
        // HEAD is answered as GET is, but for the body.
        let part = if request.method == "HEAD" { Part::Head } else { Part::All };
        reply.write(stream, part, if last { "close" } else { "keep-alive" })?;
        if last {
            return Ok(());
        }
    }
}

/// Says what is wrong with a request, where somebody may still listen; where the next one would start nobody knows.
fn refuse(stream: &TcpStream, reader: &mut impl Read, error: io::Error) -> io::Result<()> {
    let status = match error.kind() {
        io::ErrorKind::InvalidData => 400,
        io::ErrorKind::FileTooLarge => 413,
        _ => return Err(error),
    };
    let reply = Reply { status, ..Reply::new("text/plain; charset=utf-8", error.to_string()) };
    reply.write(stream, Part::All, "close")?;
    stream.shutdown(Shutdown::Write)?;
    // An answer is lost if the connection is closed while there is something to be read.
    stream.set_read_timeout(Some(LINGER))?;
    io::copy(&mut reader.take(LONGEST_REST), &mut io::sink())?;
    Ok(())
}

/// The next request; none when the browser has closed the connection.
fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let long = |what: &str| io::Error::new(io::ErrorKind::FileTooLarge, what.to_owned());
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let before = head.len();
        reader.by_ref().take((LONGEST_HEAD - before) as u64).read_until(b'\n', &mut head)?;
        if before == LONGEST_HEAD {
            return Err(long("the request is too long"));
        }
        if head.len() == before {
            return if before == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    parsed.parse(&head).map_err(|error| wrong(&error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        headers: parsed.headers.iter().map(|header| (header.name.to_owned(), text(header.value))).collect(),
        body: Vec::new(),
    };
    let length = request.header("Content-Length").map_or(Ok(0), str::parse);
    let length: usize = length.map_err(|_| wrong("the length is no number"))?;
    if request.header("Transfer-Encoding").is_some() {
        return Err(wrong("a body must come in one piece, with its length before it"));
    }
    if length > LONGEST_BODY {
        return Err(long(&format!("an order has at most {LONGEST_BODY} bytes, this one has {length}")));
    }
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
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
        write!(head, "Content-Length: {}\r\nConnection: {connection}\r\n\r\n", self.body.len())?;
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
        409 => "Conflict",
        413 => "Content Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_follow_each_other_on_a_connection() {
        let text = "GET /a?b=1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /c HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";
        let mut reader = text.as_bytes();
        let first = read(&mut reader).unwrap().unwrap();
        assert_eq!((first.method.as_str(), first.target.as_str(), first.header("HOST")), ("GET", "/a?b=1", Some("x")));
        assert_eq!(read(&mut reader).unwrap().unwrap().body, b"{}");
        assert_eq!(read(&mut reader).unwrap(), None);
    }

    #[test]
    fn what_is_no_request_of_ours_is_refused() {
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(LONGEST_HEAD));
        let texts = [
            "GET / HTTP/1.1\r\nHost",
            "nonsense\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{}",
            &long,
        ];
        for text in texts {
            assert!(read(&mut text.as_bytes()).is_err(), "{}", &text[..20]);
        }
    }

    #[test]
    fn an_answer_tells_its_length() {
        let mut out = Vec::new();
        Reply::new("text/plain", "hello").write(&mut out, Part::All, "close").unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"), "{text}");
        assert!(text.ends_with("Content-Length: 5\r\nConnection: close\r\n\r\nhello"), "{text}");
        let mut head = Vec::new();
        Reply::new("text/plain", "hello").write(&mut head, Part::Head, "close").unwrap();
        assert_eq!(text.as_bytes().strip_suffix(b"hello"), Some(head.as_slice()));
    }
}
