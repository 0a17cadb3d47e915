//! Choices that users make by name. The table of a choice, its variants with their names and what they mean, is written
//! once: scenes, options, schema and help follow from it.

/// Names less alike than this are not suggested.
const LIKENESS: f64 = 0.7;

/// The name among `known` that was most likely meant.
#[must_use]
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |name: &str| strsim::jaro_winkler(&word.to_lowercase(), name);
    known
        .into_iter()
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Which choices there are, where a word is none of them.
pub(crate) fn unknown<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match suggestion(word, names.iter().copied()) {
        Some(hint) => format!("did you mean `{hint}`?"),
        None => format!("known: {}", names.join(", ")),
    }
}

/// An enum whose variants have names: one row each, with what it means as its comment.
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Choice:ident { $($(#[doc = $about:literal])+ $Variant:ident = $name:literal,)+ }
        $(default $Default:ident)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[derive(schemars::JsonSchema)]
        $vis enum $Choice { $($(#[doc = $about])+ #[serde(rename = $name)] $Variant,)+ }

        impl $Choice {
            /// All there are.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Variant),+];

            /// As scenes and options spell it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name,)+ }
            }

            /// What it means, as a sentence.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$Variant => concat!($($about),+).trim_ascii(),)+ }
            }
        }

        $(impl Default for $Choice {
            fn default() -> Self {
                Self::$Default
            }
        })?

        impl std::fmt::Display for $Choice {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $Choice {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                let found = Self::ALL.into_iter().find(|choice| choice.name() == word);
                found.ok_or_else(|| $crate::choice::unknown(word, Self::ALL.map(Self::name)))
            }
        }
    };
}
pub(crate) use choices;

#[cfg(test)]
mod tests {
    choices! {
        /// How it lies.
        pub(super) enum Side {
            /// On its face.
            Face = "face",
            /// On its edge, which
            /// is thin.
            OnEdge = "on-edge",
        }
    }

    #[derive(serde::Deserialize)]
    struct File {
        side: Side,
    }

    #[test]
    fn a_choice_is_read_by_its_name_wherever_it_stands() {
        for side in Side::ALL {
            assert_eq!(side.to_string().parse(), Ok(side));
            assert_eq!(toml::from_str::<File>(&format!("side = '{side}'")).unwrap().side, side);
        }
        assert_eq!(Side::OnEdge.about(), "On its edge, which is thin.");
        assert_eq!("on_edge".parse::<Side>(), Err("did you mean `on-edge`?".to_owned()));
        assert_eq!("top".parse::<Side>(), Err("known: face, on-edge".to_owned()));
        let schema = serde_json::to_string(&schemars::schema_for!(Side)).unwrap();
        assert!(Side::ALL.iter().all(|side| schema.contains(&format!("\"const\":\"{side}\""))), "{schema}");
    }
}
