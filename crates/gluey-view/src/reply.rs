//! Answers, and the headers that keep browsers careful.

use crate::ViewError;

/// What a request is answered with.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
    /// One more header.
    pub(crate) more: Option<(&'static str, String)>,
}

/// Nothing is loaded from elsewhere, nothing is kept, nothing is framed.
const HEADERS: [(&str, &str); 5] = [
    (
        "Content-Security-Policy",
        "default-src 'self'; img-src 'self' blob: data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
];

impl Reply {
    pub(crate) fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, kind, body: body.into(), more: None }
    }

    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::new("application/json", value.to_string())
    }

    /// A frame, and its number if it has one.
    pub(crate) fn frame(record: Vec<u8>, number: Option<u64>) -> Self {
        let more = number.map(|number| ("X-Gluey-Number", number.to_string()));
        Self { more, ..Self::new("application/octet-stream", record) }
    }

    pub(crate) fn nothing() -> Self {
        Self { status: 204, ..Self::new("text/plain", "") }
    }

    pub(crate) fn with(self, name: &'static str, value: String) -> Self {
        Self { more: Some((name, value)), ..self }
    }

    /// All headers but those of the connection.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let own = std::iter::once(("Content-Type", self.kind)).chain(HEADERS);
        own.chain(self.more.iter().map(|(name, value)| (*name, value.as_str())))
    }
}

impl From<ViewError> for Reply {
    fn from(error: ViewError) -> Self {
        let told = Self::new("text/plain; charset=utf-8", error.to_string());
        let more = matches!(error, ViewError::Method).then(|| ("Allow", "GET, HEAD, POST".to_owned()));
        Self { status: error.status(), more, ..told }
    }
}
