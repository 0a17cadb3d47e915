//! Who may ask: pages of this server, and nobody else.
//!
//! A name that an attacker makes point to this machine arrives in `Host`, so only numbers, `localhost` and the name
//! that the user asked for are answered. Another site's page cannot read the token, without which nothing is changed.
//!
//! A page that this machine alone can reach has the token in it. One that others can reach has not: there the token is
//! in the address that the command prints, behind the `#`, which browsers send to nobody, and without it nothing of a
//! run is told.

use std::net::IpAddr;

use crate::ViewError;

/// Who can reach the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This machine alone.
    Here,
    /// Other machines, too.
    Others,
}

/// What requests are compared with.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The name the user asked to listen on, if it was one.
    name: String,
    reach: Reach,
    token: String,
}

/// What of a request matters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Credentials<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) origin: Option<&'a str>,
    pub(crate) token: Option<&'a str>,
}

impl Guard {
    /// A guard with a new token.
    pub(crate) fn new(address: &str, reach: Reach) -> Result<Self, ViewError> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(ViewError::Random)?;
        let token = u128::from_le_bytes(bytes);
        Ok(Self { name: name_of(address).to_ascii_lowercase(), reach, token: format!("{token:032x}") })
    }

    /// The token as the page has it in it, empty where its address must have it.
    pub(crate) fn page_token(&self) -> &str {
        if self.reach == Reach::Here { &self.token } else { "" }
    }

    /// The token as the address of the page must have it; none where the page has it in it.
    pub(crate) fn address_token(&self) -> Option<&str> {
        (self.reach == Reach::Others).then_some(&self.token)
    }

    /// Whether a request comes by a name that is really this server's.
    pub(crate) fn admit(&self, asker: Credentials) -> Result<(), ViewError> {
        let host = asker.host.map(|host| name_of(host).to_ascii_lowercase()).unwrap_or_default();
        let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        if number || host == "localhost" || (host == self.name && !host.is_empty()) {
            return Ok(());
        }
        Err(ViewError::Forbidden("use the address that gluey printed: this name is not known here"))
    }

    /// Whether a request may be told what is here.
    pub(crate) fn admit_question(&self, asker: Credentials) -> Result<(), ViewError> {
        self.admit(asker)?;
        match self.reach {
            Reach::Here => Ok(()),
            Reach::Others => self.admit_token(asker),
        }
    }

    /// Whether a request may change something.
    pub(crate) fn admit_order(&self, asker: Credentials) -> Result<(), ViewError> {
        self.admit(asker)?;
        let here = asker.host.map(|host| format!("http://{host}"));
        if asker.origin.is_some_and(|origin| Some(origin) != here.as_deref()) {
            return Err(ViewError::Forbidden("orders are taken from gluey's own page alone"));
        }
        self.admit_token(asker)
    }

    fn admit_token(&self, asker: Credentials) -> Result<(), ViewError> {
        let why = match (asker.token, self.reach) {
            (Some(token), _) if same(token, &self.token) => return Ok(()),
            (Some(_), Reach::Here) => "this page is of a server that is gone: load it again",
            (None, Reach::Here) => "orders need the token of gluey's page, in the header X-Gluey-Token",
            (Some(_), Reach::Others) => {
                "the token in this address is not that of this server: open the address that gluey printed where it was \
                 started last"
            }
            (None, Reach::Others) => {
                "this address is not whole: open the one that gluey printed where it was started, with #token= at its \
                 end (programs send the token in the header X-Gluey-Token)"
            }
        };
        Err(ViewError::Forbidden(why))
    }
}

/// Whether two texts are the same, in a time that does not depend on where they differ: from that a token could be
/// guessed letter by letter.
fn same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let difference = pairs.fold(0, |difference, (one, other)| std::hint::black_box(difference | (one ^ other)));
    one.len() == other.len() && difference == 0
}

/// A host without its port; numbers with colons stand in brackets.
fn name_of(host: &str) -> &str {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) && (name.ends_with(']') || !name.contains(':')) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_localhost_and_the_name_asked_for_are_answered() {
        let guard = Guard::new("lab-pc:8321", Reach::Here).unwrap();
        let admitted = |host: &str| guard.admit(Credentials { host: Some(host), ..Credentials::default() }).is_ok();
        for host in
            ["127.0.0.1:8321", "127.0.0.1", "localhost:99", "[::1]:8321", "[::1]", "192.168.1.7:8321", "Lab-PC:1"]
        {
            assert!(admitted(host), "{host}");
        }
        for host in ["evil.example:8321", "127.0.0.1.evil.example", "localhost.evil.example", "", "::1:x"] {
            assert!(!admitted(host), "{host}");
        }
        assert!(guard.admit(Credentials::default()).is_err());
    }

    #[test]
    fn a_listener_without_a_name_answers_no_nameless_request() {
        let guard = Guard::new(":8321", Reach::Here).unwrap();
        for host in [None, Some(""), Some(":8321")] {
            assert!(guard.admit(Credentials { host, ..Credentials::default() }).is_err(), "{host:?}");
        }
    }

    #[test]
    fn orders_need_the_token_and_no_foreign_origin() {
        for reach in [Reach::Here, Reach::Others] {
            let guard = Guard::new("127.0.0.1:0", reach).unwrap();
            let token = guard.token.as_str();
            let asker = |origin, token| Credentials { host: Some("127.0.0.1:8321"), origin, token };
            guard.admit_order(asker(None, Some(token))).unwrap();
            guard.admit_order(asker(Some("http://127.0.0.1:8321"), Some(token))).unwrap();
            assert!(guard.admit_order(asker(Some("http://evil.example"), Some(token))).is_err());
            assert!(guard.admit_order(asker(Some("null"), Some(token))).is_err());
            assert!(guard.admit_order(asker(None, Some("0"))).is_err());
            assert!(guard.admit_order(asker(None, None)).is_err());
            assert_eq!(token.len(), 32);
            assert_ne!(token, Guard::new("", reach).unwrap().token);
        }
    }

    #[test]
    fn where_others_reach_the_page_questions_need_the_token_of_the_address_too() {
        let asker = |token| Credentials { host: Some("192.0.2.7:8321"), origin: None, token };
        let here = Guard::new("127.0.0.1", Reach::Here).unwrap();
        here.admit_question(asker(None)).unwrap();
        assert_eq!((here.page_token(), here.address_token()), (here.token.as_str(), None));

        let open = Guard::new("0.0.0.0", Reach::Others).unwrap();
        assert_eq!((open.page_token(), open.address_token()), ("", Some(open.token.as_str())));
        open.admit(asker(None)).unwrap();
        open.admit_question(asker(Some(&open.token))).unwrap();
        let told = |token| open.admit_question(asker(token)).unwrap_err().to_string();
        assert!(told(None).contains("open the one that gluey printed where it was started, with #token="));
        for wrong in [&open.token[1..], &format!("{}0", open.token), "", &here.token] {
            assert!(
                told(Some(wrong)).contains("not that of this server: open the address that gluey printed"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn texts_are_the_same_only_if_all_of_them_is() {
        assert!(same("", "") && same("abc", "abc"));
        for (one, other) in [("abc", "abd"), ("abc", "bbc"), ("abc", "ab"), ("", "a"), ("abc", "abcabc")] {
            assert!(!same(one, other) && !same(other, one), "{one} {other}");
        }
    }
}
