//! The page that shows runs, as a browser meets its server; the page itself is tested in a browser, in `gluey-view`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
#[cfg(target_os = "linux")]
use std::thread;
#[cfg(target_os = "linux")]
use std::time::Duration;

use crate::Place;

/// A command that serves a page, ended with the test.
struct Served {
    process: Child,
    /// Address and port, and what follows them.
    host: String,
    path: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Served {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::of(place.command(arguments))
    }

    fn of(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("Watch at http://").unwrap();
        let (host, path) = url.split_once('/').unwrap();
        Self { process, host: host.to_owned(), path: format!("/{path}") }
    }

    /// Status and body of an answer.
    fn ask(&self, request: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let length = body.len();
        write!(stream, "{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
            .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask(&format!("GET {path}"), &format!("Host: {}\r\n", self.host), "")
    }

    fn order(&self, headers: &str) -> (u16, String) {
        self.ask("POST /api/order?run=run", &format!("Host: {}\r\n{headers}", self.host), "{\"order\":\"pause\"}")
    }
}

#[test]
fn a_run_is_served_to_its_own_page_alone() {
    let place = Place::new();
    place.short("run", &[]).succeeds();
    let served = Served::start(&place, &["view", "run/", "--listen=127.0.0.1:0"]);
    assert_eq!(served.path, "/?run=run");
    let (status, page) = served.get(&served.path);
    assert!(status == 200 && page.starts_with("<!doctype html>"), "{status} {page}");
    let script = served.get("/app.js");
    assert!(script.0 == 200 && script.1.contains("import"));

    let (status, description) = served.get("/api/run?run=run");
    assert!(status == 200 && description.contains("\"name\":\"lotto-small\""), "{description}");
    let (status, news) = served.get("/api/progress?run=run&after=7");
    assert!(status == 200 && news.contains("\"steps\":[14,21,"), "{news}");
    let (status, frame) = served.get("/api/frame?run=run&step=14");
    assert!(status == 200 && frame.starts_with("GFRM"), "{status}");
    assert_eq!(served.get("/api/frame?run=run&step=15").0, 404);
    assert_eq!(served.get("/api/run?run=../run").0, 404, "only runs that are listed are opened");
    assert_eq!(served.get("/etc/passwd").0, 404);

    let host = format!("Host: {}\r\n", served.host);
    assert_eq!(served.ask("HEAD /", &host, ""), (200, String::new()));
    assert_eq!(served.ask("HEAD /nothing", &host, ""), (404, String::new()));
    assert_eq!(served.ask("DELETE /", &host, "").0, 405);
    let (status, told) = served.ask("POST /api/order?run=run", &host, &" ".repeat(300_000));
    assert!(status == 413 && told.contains("at most 4096 bytes, this one has 300000"), "{status} {told}");

    assert_eq!(served.ask("GET /", "Host: evil.example\r\n", "").0, 403);
    let (status, told) = served.order("");
    assert!(status == 403 && told.contains("orders need the token of gluey's page"), "{status} {told}");
    let (status, told) = served.order("X-Gluey-Token: 0\r\n");
    assert!(status == 403 && told.contains("load it again"), "{status} {told}");
    let token = page.split("gluey-token\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    let token = format!("X-Gluey-Token: {token}\r\n");
    assert_eq!(served.order(&format!("{token}Origin: http://evil.example\r\n")).0, 403);
    let (status, told) = served.order(&format!("{token}Origin: http://{}\r\n", served.host));
    assert!(status == 409 && told.contains("can be watched, not steered"), "{status} {told}");
    assert_eq!(served.ask("POST /api/nothing", &format!("{host}{token}"), "{}").0, 404);
}

#[test]
fn a_page_that_other_machines_reach_tells_and_does_nothing_without_the_token_of_its_address() {
    let place = Place::new();
    place.short("run", &[]).succeeds();
    let served = Served::start(&place, &["view", "run", "--listen=0.0.0.0:0"]);
    let (path, token) = served.path.split_once("#token=").unwrap();
    assert!(path == "/?run=run" && token.len() == 32, "{}", served.path);
    let (status, page) = served.get(path);
    assert!(status == 200 && page.starts_with("<!doctype html>"), "{status} {page}");
    assert!(page.contains("gluey-token\" content=\"\""), "the page has no token in it");
    assert_eq!(served.get("/app.js").0, 200);

    let data =
        ["gallery", "run?run=run", "progress?run=run", "frame?run=run&step=14", "live?run=run", "series.csv?run=run"];
    let host = format!("Host: {}\r\n", served.host);
    let asked = |method: &str, path: &str, token: &str| {
        let headers = if token.is_empty() { host.clone() } else { format!("{host}X-Gluey-Token: {token}\r\n") };
        served.ask(&format!("{method} {path}"), &headers, "")
    };
    for path in data.map(|data| format!("/api/{data}")) {
        let (status, told) = asked("GET", &path, "");
        assert!(
            status == 403 && told.contains("open the one that gluey printed where it was started"),
            "{path}: {told}"
        );
        assert_eq!(asked("HEAD", &path, "").0, 403, "{path}");
        let with = format!("{path}{}token={token}", if path.contains('?') { '&' } else { '?' });
        assert_eq!(served.get(&with).0, 403, "a token that could be in a log serves nobody: {path}");
        let (status, told) = asked("GET", &path, &token.replace(|_| true, "0"));
        assert!(status == 403 && told.contains("is not that of this server"), "{path}: {told}");
        let right = if path.contains("live") { 409 } else { 200 };
        assert_eq!(asked("GET", &path, token).0, right, "{path}");
    }
    for order in ["order?run=run", "start"] {
        assert_eq!(asked("POST", &format!("/api/{order}"), "").0, 403);
    }
    assert_eq!(served.order("").0, 403);
    assert_eq!(served.order(&format!("X-Gluey-Token: {token}\r\n")).0, 409, "not live");
}

#[test]
fn a_manifest_with_a_wrong_dimension_kills_no_page() {
    let place = Place::new();
    place.short("runs/bad", &["--set=output.formats=[\"vtk\"]"]).succeeds();
    let manifest = place.path("runs/bad/manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("dimension = 2\n", "dimension = 7\n")).unwrap();
    place.gluey(&["view", "runs/bad"]).fails(1, &["bad/manifest.toml", "a run has 2 or 3 dimensions, not 7"]);
    place.gluey(&["info", "runs/bad"]).fails(1, &["bad/manifest.toml", "a run has 2 or 3 dimensions, not 7"]);
    let served = Served::start(&place, &["view", "--listen=127.0.0.1:0"]);
    for _ in 0..120 {
        let (status, told) = served.get("/api/frame?run=runs%2Fbad&step=14");
        assert!(status == 500 && told.contains("a run has 2 or 3 dimensions, not 7"), "{status} {told}");
    }
    let (status, told) = served.get("/api/gallery");
    assert!(status == 200 && told.contains("a run has 2 or 3 dimensions, not 7"), "{status} {told}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_that_can_open_no_more_files_neither_spins_nor_falls_silent() {
    let place = Place::new();
    place.short("run", &[]).succeeds();
    let gluey = place.command(&["view", "run", "--listen=127.0.0.1:0"]);
    let mut few = Command::new("bash");
    few.args(["-c", "ulimit -n 20; exec \"$0\" \"$@\""]).arg(gluey.get_program()).args(gluey.get_args());
    few.current_dir(gluey.get_current_dir().unwrap());
    let served = Served::of(few);
    let _silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(&served.host).unwrap()).collect();
    // Clock ticks of a hundredth of a second, of the program and of the system for it.
    let busy = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", served.process.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>()
    };
    let before = busy();
    thread::sleep(Duration::from_secs(2));
    let spent = busy() - before;
    assert!(spent < 40, "{spent} hundredths of a second of two seconds");
    for path in ["/", "/api/run?run=run", "/api/progress?run=run", "/api/frame?run=run&step=14"] {
        assert_eq!(served.get(path).0, 200, "{path}");
    }
}

#[test]
fn what_cannot_be_shown_is_told_at_once() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).unwrap();
    place.gluey(&["view", "empty"]).fails(1, &["empty is no run folder"]);
    place.gluey(&["view", "nowhere"]).fails(1, &["cannot read nowhere"]);
    place.short("run", &[]).succeeds();
    place.gluey(&["view", "run", "--listen=203.0.113.1:1"]).fails(1, &["cannot listen on 203.0.113.1:1"]);
    place.gluey(&["view", "run", "--listen=somewhere:eighty"]).fails(1, &["`eighty` is no port"]);
    place.gluey(&["run", "--listen=:0"]).fails(2, &["--view"]);
}

#[test]
fn a_resumed_run_repeats_what_was_changed_by_hand() {
    let place = Place::new();
    let changes =
        "step,time,key,value\n30,0.15,environment.gravity,\"[3, 10]\"\n999,5,environment.gravity,\"[0, 0]\"\n";
    for run in ["once", "twice", "plain"] {
        place.short(run, &["--until=0.15"]).succeeds();
        if run != "plain" {
            place.write(&format!("{run}/interventions.csv"), changes);
        }
        if run == "twice" {
            place.gluey(&["run", "--resume", "--out=twice", "--until=0.2"]).succeeds();
        }
        let told = place.gluey(&["run", "--resume", "--out", run]).succeeds();
        let changed = told.contains("changed by hand environment.gravity = [3, 10] at t = 0.15\n");
        assert_eq!(changed, run != "plain", "{told}");
    }
    place.assert_same("once", "twice");
    assert!(place.content("once")["series.csv"] != place.content("plain")["series.csv"]);
    let kept = fs::read_to_string(place.path("once/interventions.csv")).unwrap();
    assert!(!kept.contains("\n999,") && kept.lines().count() == 2, "{kept}");
    assert!(place.gluey(&["info", "once"]).succeeds().contains("changed by hand environment.gravity"));
    place.short("once", &["--overwrite"]).succeeds();
    assert!(!place.path("once/interventions.csv").exists());
}
