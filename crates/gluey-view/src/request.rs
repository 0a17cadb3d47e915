//! What a browser asks: the head and the body of one request, as bytes that come from anywhere.

use std::io::{self, BufRead, Read};

use thiserror::Error;

/// Bytes of a request before its body.
pub(crate) const LONGEST_HEAD: usize = 16 << 10;
/// Bytes of an order.
const LONGEST_BODY: usize = 4 << 10;
const HEADERS: usize = 64;
/// Headers of which a request has one at most: of two, who stands in between might believe the other one.
const SINGLE: [&str; 5] = ["Host", "Content-Length", "Transfer-Encoding", "Origin", "X-Gluey-Token"];

/// A request.
#[derive(Debug, Default, PartialEq)]
pub struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether its version is one in which each connection has a single request, HTTP/1.0.
    alone: bool,
}

/// Why there is no request.
#[derive(Debug, Error)]
pub enum RequestError {
    /// It is none that the page would make.
    #[error("{0}")]
    Wrong(String),
    /// It is longer than any of the page.
    #[error("{0}")]
    Long(String),
    /// It wants to be asked for its body.
    #[error("a body is taken at once or not at all: leave out the header Expect")]
    Expects,
    /// The rest did not come.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Request {
    /// The next request; none when there are no more bytes.
    pub fn read(reader: &mut impl BufRead) -> Result<Option<Self>, RequestError> {
        let Some(head) = head(reader)? else { return Ok(None) };
        let mut request = Self::parse(&head)?;
        let length = request.length()?;
        request.body.resize(length, 0);
        reader.read_exact(&mut request.body)?;
        Ok(Some(request))
    }

    /// A request without its body.
    fn parse(head: &[u8]) -> Result<Self, RequestError> {
        let wrong = |what: String| Err(RequestError::Wrong(what));
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(head) {
            Err(error) => return wrong(format!("this is no request of HTTP: {error}")),
            Ok(httparse::Status::Partial) => return wrong("this is no request of HTTP: it is not whole".to_owned()),
            Ok(httparse::Status::Complete(_)) => {}
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let request = Self {
            method: parsed.method.unwrap_or_default().to_owned(),
            target: parsed.path.unwrap_or_default().to_owned(),
            headers: parsed.headers.iter().map(|header| (header.name.to_owned(), text(header.value))).collect(),
            body: Vec::new(),
            alone: parsed.version == Some(0),
        };
        match SINGLE.iter().find(|name| request.all(name).count() > 1) {
            Some(name) => wrong(format!("the header {name} stands in the request twice")),
            None => Ok(request),
        }
    }

    /// Of the body (bytes).
    fn length(&self) -> Result<usize, RequestError> {
        if self.header("Transfer-Encoding").is_some() {
            return Err(RequestError::Wrong("a body must come in one piece, with its length before it".to_owned()));
        }
        let Some(text) = self.header("Content-Length") else { return Ok(0) };
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(RequestError::Wrong("the length of the body is no number of bytes".to_owned()));
        }
        // More digits than fit a number are too many bytes, too.
        match text.parse() {
            Ok(length) if length <= LONGEST_BODY && self.header("Expect").is_some() => Err(RequestError::Expects),
            Ok(length) if length <= LONGEST_BODY => Ok(length),
            _ => Err(RequestError::Long(format!("an order has at most {LONGEST_BODY} bytes, this one has {text}"))),
        }
    }

    /// All values of a header.
    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let found = self.headers.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Whether the connection ends with the answer.
    pub(crate) fn is_last(&self) -> bool {
        let mut options = self.all("Connection").flat_map(|value| value.split(','));
        self.alone || options.any(|option| option.trim().eq_ignore_ascii_case("close"))
    }
}

/// The lines before the body, with the empty one that ends them. Empty lines before them are passed over, and a line
/// may end without a carriage return (RFC 9112, 2.2).
fn head(reader: &mut impl BufRead) -> Result<Option<Vec<u8>>, RequestError> {
    let (mut head, mut room) = (Vec::new(), LONGEST_HEAD);
    loop {
        let before = head.len();
        let count = reader.by_ref().take(room as u64).read_until(b'\n', &mut head)?;
        room -= count;
        match (count, room, before) {
            (0, 0, _) => {
                let told = format!("a request has at most {LONGEST_HEAD} bytes before its body");
                return Err(RequestError::Long(told));
            }
            (0, _, 0) => return Ok(None),
            (0, ..) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            _ => {}
        }
        if matches!(&head[before..], b"\n" | b"\r\n") {
            if before > 0 {
                return Ok(Some(head));
            }
            head.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Request>, RequestError> {
        Request::read(&mut text.as_bytes())
    }

    fn one(text: &str) -> Request {
        read(text).unwrap().unwrap()
    }

    fn told(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn requests_follow_each_other() {
        let text = "GET /a?b=1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /c HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";
        let mut reader = text.as_bytes();
        let first = Request::read(&mut reader).unwrap().unwrap();
        assert_eq!((first.method.as_str(), first.target.as_str(), first.header("HOST")), ("GET", "/a?b=1", Some("x")));
        assert_eq!(Request::read(&mut reader).unwrap().unwrap().body, b"{}");
        assert_eq!(Request::read(&mut reader).unwrap(), None);
    }

    #[test]
    fn what_is_no_request_of_ours_is_refused_in_words() {
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(LONGEST_HEAD));
        let endless = "\r\n".repeat(LONGEST_HEAD);
        let body = |length: &str| told(&format!("POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n"));
        assert!(told("nonsense\r\n\r\n").starts_with("this is no request of HTTP: "));
        let longest = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(LONGEST_HEAD - 18));
        assert_eq!((longest.len(), one(&longest).method.as_str()), (LONGEST_HEAD, "GET"));
        assert!(told(&long).contains("at most 16384 bytes before its body"), "{}", told(&long));
        assert!(told(&endless).contains("at most 16384 bytes before its body"));
        assert_eq!(body("99999999"), "an order has at most 4096 bytes, this one has 99999999");
        let endless = "9".repeat(40);
        assert_eq!(body(&endless), format!("an order has at most 4096 bytes, this one has {endless}"));
        for length in ["-1", "+2", "2 2", "0x2", "", "2,2"] {
            assert_eq!(body(length), "the length of the body is no number of bytes", "{length}");
        }
        assert!(told("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").contains("in one piece"));
        assert!(told("POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}").contains("Expect"));
        for cut in ["GET / HTTP/1.1\r\nHost", "GET / HT", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{}"] {
            assert!(matches!(read(cut), Err(RequestError::Io(_))), "{cut}");
        }
    }

    #[test]
    fn two_empty_lines_are_no_request_without_a_method() {
        assert_eq!(read("\r\n\r\n").unwrap(), None);
        assert_eq!(one("\r\n\r\nGET / HTTP/1.1\r\n\r\n").method, "GET");
    }

    #[test]
    fn lines_that_end_without_a_carriage_return_are_waited_for_no_longer() {
        assert_eq!(one("GET /a HTTP/1.1\nHost: x\n\n").header("Host"), Some("x"));
        assert_eq!(one("GET /a HTTP/1.1\r\nHost: x\n\r\n").header("Host"), Some("x"));
    }

    #[test]
    fn a_header_that_decides_stands_there_once() {
        for name in SINGLE {
            let text = format!("POST / HTTP/1.1\r\n{name}: 1\r\n{}: 2\r\n\r\nab", name.to_lowercase());
            assert_eq!(told(&text), format!("the header {name} stands in the request twice"));
        }
    }

    #[test]
    fn who_closes_after_a_request_is_not_kept_waiting_for_the_end() {
        let last = |version, connection| one(&format!("GET / HTTP/{version}\r\n{connection}\r\n")).is_last();
        assert!(!last("1.1", "") && !last("1.1", "Connection: keep-alive, Upgrade\r\n"));
        assert!(last("1.1", "Connection: Close\r\n") && last("1.1", "Connection: TE, close\r\n"));
        assert!(last("1.1", "Connection: TE\r\nConnection: close\r\n"));
        assert!(last("1.0", "") && last("1.0", "Connection: keep-alive\r\n"));
    }
}
