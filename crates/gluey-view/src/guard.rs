//! Who may ask: pages of this server, and nobody else.
//!
//! A name that an attacker makes point to this machine arrives in `Host`, so only numbers, `localhost` and the name that
//! the user asked for are answered. Another site's page cannot read the token, without which nothing is changed.

use std::net::IpAddr;

use crate::ViewError;

/// What requests are compared with.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The name the user asked to listen on, if it was one.
    name: String,
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
    pub(crate) fn new(address: &str) -> Result<Self, ViewError> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(ViewError::Random)?;
        let token = u128::from_le_bytes(bytes);
        Ok(Self { name: name_of(address).to_ascii_lowercase(), token: format!("{token:032x}") })
    }

    /// What the page must send with orders.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Whether a request comes by a name that is really this server's.
    pub(crate) fn admit(&self, asker: Credentials) -> Result<(), ViewError> {
        let host = asker.host.map(|host| name_of(host).to_ascii_lowercase()).unwrap_or_default();
        let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        if number || host == "localhost" || host == self.name {
            return Ok(());
        }
        Err(ViewError::Forbidden("use the address that gluey printed: this name is not known here"))
    }

    /// Whether a request may change something.
    pub(crate) fn admit_order(&self, asker: Credentials) -> Result<(), ViewError> {
        self.admit(asker)?;
        let here = asker.host.map(|host| format!("http://{host}"));
        if asker.origin.is_some_and(|origin| Some(origin) != here.as_deref()) {
            return Err(ViewError::Forbidden("orders are taken from gluey's own page alone"));
        }
        match asker.token {
            Some(token) if token == self.token => Ok(()),
            Some(_) => Err(ViewError::Forbidden("this page is of a server that is gone: load it again")),
            None => Err(ViewError::Forbidden("orders need the token of gluey's page, in the header X-Gluey-Token")),
        }
    }
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
        let guard = Guard::new("lab-pc:8321").unwrap();
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
    fn orders_need_the_token_and_no_foreign_origin() {
        let guard = Guard::new("127.0.0.1:0").unwrap();
        let token = guard.token();
        let asker = |origin, token| Credentials { host: Some("127.0.0.1:8321"), origin, token };
        guard.admit_order(asker(None, Some(token))).unwrap();
        guard.admit_order(asker(Some("http://127.0.0.1:8321"), Some(token))).unwrap();
        assert!(guard.admit_order(asker(Some("http://evil.example"), Some(token))).is_err());
        assert!(guard.admit_order(asker(Some("null"), Some(token))).is_err());
        assert!(guard.admit_order(asker(None, Some("0"))).is_err());
        assert!(guard.admit_order(asker(None, None)).is_err());
        assert_eq!(token.len(), 32);
        assert_ne!(token, Guard::new("").unwrap().token());
    }
}
