//! The server: threads, not tasks, since there are few viewers and each waits most of the time.

use std::io::Read;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;
use tiny_http::{Method, Request};

use crate::ViewError;
use crate::assets::{ASSETS, PAGE};
use crate::guard::{Credentials, Guard};
use crate::reply::Reply;
use crate::site::Site;

/// The port unless another is asked for.
const PORT: u16 = 8321;
/// Requests that are answered at the same time.
const MOST: usize = 64;
/// Bytes of an order.
const LONGEST_ORDER: u64 = 4096;

/// A server that answers until the process ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
}

impl Server {
    /// Listens and answers, in threads of its own. `listen` is `ADDRESS`, `ADDRESS:PORT`, or nothing for this machine
    /// alone; where no port is asked for and the usual one is taken, any other serves.
    pub fn start(site: Arc<Site>, listen: Option<&str>) -> Result<Self, ViewError> {
        let asked = listen.unwrap_or("127.0.0.1");
        let listener = match ports(asked) {
            (host, Some(port)) => open(&host, port),
            (host, None) => open(&host, PORT).or_else(|_| open(&host, 0)),
        };
        let listener = listener.map_err(|cause| ViewError::Listen { address: asked.to_owned(), cause })?;
        let wrong = |cause: String| ViewError::Listen { address: asked.to_owned(), cause: std::io::Error::other(cause) };
        let address = listener.server_addr().to_ip().ok_or_else(|| wrong("this is no internet address".to_owned()))?;
        let guard = Arc::new(Guard::new(asked)?);
        thread::spawn(move || accept(&listener, &site, &guard));
        Ok(Self { address })
    }

    /// Where the page is.
    #[must_use]
    pub fn url(&self) -> String {
        let shown = if self.address.ip().is_unspecified() {
            SocketAddr::from(([127, 0, 0, 1], self.address.port()))
        } else {
            self.address
        };
        format!("http://{shown}/")
    }

    /// The page of a run.
    #[must_use]
    pub fn url_of(&self, run: &str) -> String {
        let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("run", run).finish();
        format!("{}?{query}", self.url())
    }
}

fn open(host: &str, port: u16) -> std::io::Result<tiny_http::Server> {
    let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
    tiny_http::Server::http(&addresses[..]).map_err(|cause| match cause.downcast::<std::io::Error>() {
        Ok(cause) => *cause,
        Err(other) => std::io::Error::other(other),
    })
}

/// Host and port of what the user asked for.
fn ports(asked: &str) -> (String, Option<u16>) {
    if let Ok(address) = asked.parse::<SocketAddr>() {
        return (address.ip().to_string(), Some(address.port()));
    }
    match asked.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => match port.parse() {
            Ok(port) => (if host.is_empty() { "127.0.0.1" } else { host }.to_owned(), Some(port)),
            Err(_) => (asked.to_owned(), None),
        },
        _ => (asked.trim_matches(['[', ']']).to_owned(), None),
    }
}

fn accept(listener: &tiny_http::Server, site: &Arc<Site>, guard: &Arc<Guard>) {
    let busy = Arc::new(AtomicUsize::new(0));
    while let Ok(request) = listener.recv() {
        if busy.fetch_add(1, Ordering::SeqCst) >= MOST {
            busy.fetch_sub(1, Ordering::SeqCst);
            let full = Reply { status: 503, ..Reply::new("text/plain", "too many viewers at once") };
            let _ = full.send(request); // who has gone needs no answer
            continue;
        }
        let (site, guard, busy) = (Arc::clone(site), Arc::clone(guard), Arc::clone(&busy));
        thread::spawn(move || {
            let mut request = request;
            let reply = answer(&mut request, &site, &guard).unwrap_or_else(Reply::from);
            let _ = reply.send(request); // who has gone needs no answer
            busy.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn answer(request: &mut Request, site: &Site, guard: &Guard) -> Result<Reply, ViewError> {
    let asker = credentials(request);
    let url = request.url().to_owned();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let query = Query(query);
    match request.method() {
        Method::Get => {
            guard.admit(asker.borrowed())?;
            get(path, &query, site, guard)
        }
        Method::Post => {
            guard.admit_order(asker.borrowed())?;
            let order = body(request)?;
            match path {
                "/api/start" => {
                    let scene = order.get("scene").and_then(Value::as_str).unwrap_or_default();
                    Ok(Reply::json(&site.start(scene)?))
                }
                "/api/order" => Ok(Reply::json(&site.order(&query.run()?, &order)?)),
                _ => Err(ViewError::Request("there is nothing here".to_owned())),
            }
        }
        _ => Err(ViewError::Request("only GET and POST are answered".to_owned())),
    }
}

fn get(path: &str, query: &Query, site: &Site, guard: &Guard) -> Result<Reply, ViewError> {
    match path {
        "/" => Ok(Reply::new("text/html; charset=utf-8", PAGE.replace("{{token}}", guard.token()))),
        "/api/gallery" => Ok(Reply::json(&site.gallery())),
        "/api/run" => Ok(Reply::json(&site.describe(&query.run()?)?)),
        "/api/progress" => {
            let bytes = query.number("bytes").unwrap_or(0);
            Ok(Reply::json(&site.progress(&query.run()?, query.number("after"), bytes)?))
        }
        "/api/frame" => {
            let step = query.number("step").ok_or_else(|| ViewError::Request("which step?".to_owned()))?;
            Ok(Reply::frame(site.frame(&query.run()?, step)?, None))
        }
        "/api/live" => {
            let newest = site.newest(&query.run()?, query.number("after").unwrap_or(0))?;
            Ok(newest.map_or_else(Reply::nothing, |moment| Reply::frame(moment.record.clone(), Some(moment.number))))
        }
        "/api/series.csv" => {
            let reply = Reply::new("text/csv; charset=utf-8", site.series(&query.run()?)?);
            Ok(reply.with("Content-Disposition", "attachment; filename=\"series.csv\"".to_owned()))
        }
        _ => match ASSETS.iter().find(|asset| asset.path == path) {
            Some(asset) => Ok(Reply::new(asset.kind, asset.text)),
            None => Ok(Reply { status: 404, ..Reply::new("text/plain", "there is nothing here") }),
        },
    }
}

/// What came after the question mark.
struct Query<'a>(&'a str);

impl Query<'_> {
    fn value(&self, key: &str) -> Option<String> {
        let pairs = form_urlencoded::parse(self.0.as_bytes());
        pairs.into_iter().find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.value(key)?.parse().ok()
    }

    fn run(&self) -> Result<String, ViewError> {
        self.value("run").ok_or_else(|| ViewError::Request("which run?".to_owned()))
    }
}

/// The headers that tell who asks.
struct Asker {
    host: Option<String>,
    origin: Option<String>,
    token: Option<String>,
}

impl Asker {
    fn borrowed(&self) -> Credentials<'_> {
        Credentials { host: self.host.as_deref(), origin: self.origin.as_deref(), token: self.token.as_deref() }
    }
}

fn credentials(request: &Request) -> Asker {
    let header = |name: &'static str| {
        let found = request.headers().iter().find(|header| header.field.equiv(name));
        found.map(|header| header.value.as_str().to_owned())
    };
    Asker { host: header("Host"), origin: header("Origin"), token: header("X-Gluey-Token") }
}

fn body(request: &mut Request) -> Result<Value, ViewError> {
    let mut text = Vec::new();
    let read = request.as_reader().take(LONGEST_ORDER).read_to_end(&mut text);
    read.map_err(|error| ViewError::Request(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| ViewError::Request(format!("this is no JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood() {
        let found = |asked: &str| ports(asked);
        assert_eq!(found("127.0.0.1"), ("127.0.0.1".to_owned(), None));
        assert_eq!(found("0.0.0.0:80"), ("0.0.0.0".to_owned(), Some(80)));
        assert_eq!(found(":0"), ("127.0.0.1".to_owned(), Some(0)));
        assert_eq!(found("[::1]:9"), ("::1".to_owned(), Some(9)));
        assert_eq!(found("::1"), ("::1".to_owned(), None));
        assert_eq!(found("lab-pc:8000"), ("lab-pc".to_owned(), Some(8000)));
    }
}
