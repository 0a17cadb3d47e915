use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;

const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// Where a server answers with this; `/panic` panics.
fn served(spawn: fn(Job) -> io::Result<()>) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = |request: &Request| {
        assert!(request.target != "/panic", "asked to");
        let size = request.target.strip_prefix("/long").map_or(5, |_| 16 << 20);
        Reply::new("text/plain", "hello".repeat(size / 5))
    };
    let answer: Arc<Answer> = Arc::new(answer);
    thread::spawn(move || serve(&listener, &answer, spawn));
    address
}

fn connect(address: std::net::SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// The status of the next answer on a connection, with its body read; 0 where none comes.
fn status(stream: &TcpStream) -> u16 {
    let mut reader = BufReader::new(stream);
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return 0;
        }
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest[..3].parse().unwrap();
        }
        if let Some(rest) = line.strip_prefix("Content-Length: ") {
            length = rest.trim().parse().unwrap();
        }
        if line == "\r\n" {
            io::copy(&mut reader.take(length), &mut io::sink()).unwrap();
            return status;
        }
    }
}

fn ask(mut stream: &TcpStream, text: &str) -> u16 {
    if stream.write_all(text.as_bytes()).is_err() {
        return 0;
    }
    status(stream)
}

/// Somebody new gets an answer within two seconds.
fn a_normal_client_is_answered(address: std::net::SocketAddr) {
    let start = Instant::now();
    assert_eq!(ask(&connect(address), GET), 200);
    assert!(start.elapsed() < Duration::from_secs(2), "only after {:?}", start.elapsed());
}

/// Polls on one connection until it is told to end; gives how often, and whether each was answered.
fn viewer(address: std::net::SocketAddr, ended: Arc<AtomicBool>) -> thread::JoinHandle<(usize, bool)> {
    thread::spawn(move || {
        let stream = connect(address);
        let mut polls = 0;
        while !ended.load(Ordering::SeqCst) {
            if ask(&stream, GET) != 200 {
                return (polls, false);
            }
            polls += 1;
            thread::sleep(Duration::from_millis(100));
        }
        (polls, true)
    })
}

#[test]
fn a_hundred_requests_that_panic_are_answered_and_leak_no_connection() {
    let address = served(spawn);
    for _ in 0..120 {
        assert_eq!(ask(&connect(address), "GET /panic HTTP/1.1\r\n\r\n"), 500);
    }
    let stream = connect(address);
    assert_eq!(ask(&stream, "GET /panic HTTP/1.1\r\n\r\n"), 500);
    assert_eq!(ask(&stream, GET), 200, "the connection goes on");
}

#[test]
fn a_thread_that_cannot_be_started_refuses_one_connection_and_no_other() {
    static TRIES: AtomicUsize = AtomicUsize::new(0);
    let address = served(|job| {
        if TRIES.fetch_add(1, Ordering::SeqCst) < 120 {
            return Err(ErrorKind::WouldBlock.into()); // as the system says it
        }
        spawn(job)
    });
    for _ in 0..120 {
        assert_eq!(status(&connect(address)), 503, "without a question");
    }
    assert_eq!(ask(&connect(address), GET), 200);
}

#[test]
fn connections_that_say_nothing_shut_nobody_out_and_cut_no_viewer() {
    let address = served(spawn);
    let ended = Arc::new(AtomicBool::new(false));
    let viewer = viewer(address, Arc::clone(&ended));
    let silent: Vec<TcpStream> = (0..120).map(|_| connect(address)).collect();
    for _ in 0..10 {
        a_normal_client_is_answered(address);
        thread::sleep(Duration::from_millis(200));
    }
    ended.store(true, Ordering::SeqCst);
    let (polls, answered) = viewer.join().unwrap();
    assert!(answered && polls > 1, "cut after {polls} polls");
    drop(silent);
}

#[test]
fn connections_that_trickle_shut_nobody_out_and_cut_no_viewer() {
    let address = served(spawn);
    let ended = Arc::new(AtomicBool::new(false));
    let viewer = viewer(address, Arc::clone(&ended));
    let mut slow: Vec<TcpStream> = (0..120).map(|_| connect(address)).collect();
    for byte in GET.as_bytes()[..4].chunks(1) {
        for stream in &mut slow {
            let _ = stream.write_all(byte); // who was ended hears so late
        }
        a_normal_client_is_answered(address);
        thread::sleep(Duration::from_millis(500));
    }
    ended.store(true, Ordering::SeqCst);
    let (polls, answered) = viewer.join().unwrap();
    assert!(answered && polls > 1, "cut after {polls} polls");
}

#[test]
fn connections_that_rest_after_an_answer_shut_nobody_out() {
    let address = served(spawn);
    let resting: Vec<TcpStream> = (0..96).map(|_| connect(address)).collect();
    assert!(resting.iter().all(|stream| ask(stream, GET) == 200));
    a_normal_client_is_answered(address);
    // The one that rested longest has gone for it.
    assert_eq!(ask(&resting[0], GET), 0);
    assert_eq!(ask(&resting[95], GET), 200);
}

#[test]
fn connections_that_do_not_take_their_answers_shut_nobody_out() {
    let address = served(spawn);
    let mut deaf: Vec<TcpStream> = (0..96).map(|_| connect(address)).collect();
    for stream in &mut deaf {
        stream.write_all(b"GET /long HTTP/1.1\r\n\r\n").unwrap();
    }
    thread::sleep(Duration::from_secs(4));
    a_normal_client_is_answered(address);
}

#[test]
fn a_request_that_does_not_come_is_told_so_in_the_end() {
    let stream = connect(served(spawn));
    let start = Instant::now();
    assert_eq!(ask(&stream, "GET / HTT"), 408);
    assert!(start.elapsed() >= LATE && start.elapsed() < 2 * LATE);
}

#[test]
fn a_client_that_closes_after_its_request_gets_the_answer_and_the_end() {
    let address = served(spawn);
    for text in ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nConnection: TE, close\r\n\r\nGET /more HTTP/1.1\r\n\r\n"]
    {
        let mut stream = connect(address);
        stream.write_all(text.as_bytes()).unwrap();
        let (start, mut told) = (Instant::now(), String::new());
        stream.read_to_string(&mut told).unwrap();
        assert!(told.ends_with("\r\nConnection: close\r\n\r\nhello"), "{told}");
        assert!(start.elapsed() < LINGER, "the end took {:?}", start.elapsed());
    }
}

#[test]
fn a_long_answer_arrives_whole_at_a_slow_reader() {
    let mut stream = connect(served(spawn));
    stream.write_all(b"GET /long HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let (mut count, mut bytes) = (0, vec![0; 1 << 20]);
    loop {
        let read = stream.read(&mut bytes).unwrap();
        if read == 0 {
            break;
        }
        count += read;
        thread::sleep(Duration::from_millis(1));
    }
    assert!(count > (16 << 20) / 5 * 5, "{count}");
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
    let mut nothing = Vec::new();
    Reply::nothing().write(&mut nothing, Part::All, "close").unwrap();
    assert!(!String::from_utf8(nothing).unwrap().contains("Content-Length"));
}
