//! The server: which request gets which answer. Threads, not tasks: there are few viewers, and each waits most of the
//! time.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;

use serde_json::Value;

use crate::ViewError;
use crate::assets::{ASSETS, PAGE};
use crate::guard::{Credentials, Guard, Reach};
use crate::http::{Answer, serve, spawn};
use crate::reply::Reply;
use crate::request::Request;
use crate::site::Site;

/// The port unless another is asked for.
const PORT: u16 = 8321;

/// A server that answers until the process ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    /// What the address of the page must end with, where others can reach it.
    token: Option<String>,
}

impl Server {
    /// Listens and answers, in threads of its own. `listen` is `ADDRESS`, `ADDRESS:PORT`, or nothing for this machine
    /// alone; where no port is asked for and the usual one is taken, any other serves.
    pub fn start(site: Arc<Site>, listen: Option<&str>) -> Result<Self, ViewError> {
        let asked = listen.unwrap_or("127.0.0.1");
        let open = |host: String, port: u16| TcpListener::bind((host.as_str(), port));
        let listener = match ports(asked)? {
            (host, Some(port)) => open(host, port),
            (host, None) => open(host.clone(), PORT).or_else(|_| open(host, 0)),
        };
        let failed = |cause| ViewError::Listen { address: asked.to_owned(), cause };
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let reach = if address.ip().is_loopback() { Reach::Here } else { Reach::Others };
        let guard = Guard::new(asked, reach)?;
        let token = guard.address_token().map(ToOwned::to_owned);
        let answer = move |request: &Request| answer(request, &site, &guard).unwrap_or_else(Reply::from);
        let answer: Arc<Answer> = Arc::new(answer);
        spawn(Box::new(move || serve(&listener, &answer, spawn))).map_err(ViewError::Thread)?;
        Ok(Self { address, token })
    }

    /// Where the page is, as it must be opened.
    #[must_use]
    pub fn url(&self) -> String {
        self.page("")
    }

    /// The page of a run.
    #[must_use]
    pub fn url_of(&self, run: &str) -> String {
        let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("run", run).finish();
        self.page(&format!("?{query}"))
    }

    fn page(&self, query: &str) -> String {
        let ip = self.address.ip();
        let shown = if ip.is_unspecified() { own_address().unwrap_or(Ipv4Addr::LOCALHOST.into()) } else { ip };
        let token = self.token.as_ref().map(|token| format!("#token={token}")).unwrap_or_default();
        format!("http://{}/{query}{token}", SocketAddr::new(shown, self.address.port()))
    }

    /// Who else can see the page, if anybody may.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        self.token.as_ref().map(|_| {
            "the page is open to other machines: whoever has this address can watch, change and start simulations, and \
             what is sent can be read on the way"
        })
    }
}

/// The address by which this machine would speak to others; none where it has no way to them.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind(("0.0.0.0", 0)).ok()?;
    socket.connect(("192.0.2.1", 9)).ok()?; // an address for documentation; nothing is sent
    let ip = socket.local_addr().ok()?.ip();
    Some(ip).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

/// Host and port of what the user asked for.
fn ports(asked: &str) -> Result<(String, Option<u16>), ViewError> {
    if asked.parse::<IpAddr>().is_ok() {
        return Ok((asked.to_owned(), None));
    }
    let (host, port) = match asked.rsplit_once(':') {
        Some((host, port)) if !asked.ends_with(']') => (host, Some(port)),
        _ => (asked, None),
    };
    let wrong = |port: &str| ViewError::Port { address: asked.to_owned(), port: port.to_owned() };
    let port = port.map(|port| port.parse().map_err(|_| wrong(port))).transpose()?;
    let host = host.trim_matches(['[', ']']);
    Ok((if host.is_empty() { "127.0.0.1" } else { host }.to_owned(), port))
}

fn answer(request: &Request, site: &Site, guard: &Guard) -> Result<Reply, ViewError> {
    let asker = Credentials {
        host: request.header("Host"),
        origin: request.header("Origin"),
        token: request.header("X-Gluey-Token"),
    };
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let query = Query(query);
    match request.method.as_str() {
        "GET" | "HEAD" => {
            // The page itself and its scripts tell nothing of what is here.
            let told = path.starts_with("/api/");
            if told { guard.admit_question(asker) } else { guard.admit(asker) }?;
            get(path, &query, site, guard)
        }
        "POST" => {
            guard.admit_order(asker)?;
            let order: Value = serde_json::from_slice(&request.body)
                .map_err(|error| ViewError::Request(format!("this is no JSON: {error}")))?;
            match path {
                "/api/start" => {
                    let scene = order.get("scene").and_then(Value::as_str).unwrap_or_default();
                    Ok(Reply::json(&site.start(scene)?))
                }
                "/api/order" => Ok(Reply::json(&site.order(&query.run()?, &order)?)),
                _ => Err(ViewError::Nothing),
            }
        }
        _ => Err(ViewError::Method),
    }
}

fn get(path: &str, query: &Query, site: &Site, guard: &Guard) -> Result<Reply, ViewError> {
    match path {
        "/" => Ok(Reply::new("text/html; charset=utf-8", PAGE.replace("{{token}}", guard.page_token()))),
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
            None => Err(ViewError::Nothing),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood() {
        let found = |asked: &str| ports(asked).unwrap();
        assert_eq!(found("127.0.0.1"), ("127.0.0.1".to_owned(), None));
        assert_eq!(found("0.0.0.0:80"), ("0.0.0.0".to_owned(), Some(80)));
        assert_eq!(found(":0"), ("127.0.0.1".to_owned(), Some(0)));
        assert_eq!(found("[::1]:9"), ("::1".to_owned(), Some(9)));
        assert_eq!(found("::1"), ("::1".to_owned(), None));
        assert_eq!(found("[::1]"), ("::1".to_owned(), None));
        assert_eq!(found("lab-pc:8000"), ("lab-pc".to_owned(), Some(8000)));
        for asked in ["lab-pc:x", "127.0.0.1:70000", ":-1", "[::1]:", "lab-pc:"] {
            let told = ports(asked).unwrap_err().to_string();
            assert!(told.contains("is no port"), "{asked}: {told}");
        }
    }

    #[test]
    fn the_address_of_a_page_that_others_reach_ends_with_the_token_and_is_warned_of() {
        let server = |address: &str, token: Option<&str>| {
            let token = token.map(ToOwned::to_owned);
            Server { address: address.parse().unwrap(), token }
        };
        let here = server("[::1]:1", None);
        assert_eq!((here.url_of("a b"), here.warning()), ("http://[::1]:1/?run=a+b".to_owned(), None));
        let open = server("192.0.2.7:81", Some("5f"));
        assert_eq!(open.url(), "http://192.0.2.7:81/#token=5f");
        assert_eq!(open.url_of("a"), "http://192.0.2.7:81/?run=a#token=5f");
        assert!(open.warning().unwrap().starts_with("the page is open to other machines: "));
        let everywhere = server("0.0.0.0:81", Some("5f")).url();
        assert!(!everywhere.contains("0.0.0.0") && everywhere.ends_with(":81/#token=5f"), "{everywhere}");
    }
}
