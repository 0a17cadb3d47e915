//! The page: HTML that needs no other file.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::progress::{Done, Progress};
use super::sections::{Extent, Section};
use crate::host;
use crate::words::duration;

const STYLE: &str = include_str!("report.css");

/// Writes the page with the sections that are done, in the order of the paper.
pub fn write(path: &Path, sections: &[Section], progress: &Progress) -> Result<()> {
    let page = page(sections, progress)?;
    fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))
}

fn page(sections: &[Section], progress: &Progress) -> Result<String> {
    let (mut contents, mut body) = (Vec::new(), Vec::new());
    for section in sections {
        let title = escaped(section.title);
        match progress.of(section) {
            Some(done) => {
                let took = duration(Duration::from_secs_f64(done.seconds));
                contents.push(format!("<li><a href=\"#{}\">{title}</a> <small>{took}</small></li>\n", section.name));
                body.push(part(section, done)?);
            }
            None => contents.push(format!("<li>{title} <small>not made yet</small></li>\n")),
        }
    }
    let extent = match progress.extent() {
        Extent::Complete => "",
        Extent::Quick => {
            "<p class=\"note\">A quick report: the funnels run with few particles and for a short time, the fluid with long steps.</p>\n"
        }
    };
    let facts: Vec<String> = host::facts(None)
        .iter()
        .filter(|(name, _)| ["gluey", "processor", "system", "cores", "threads"].contains(name))
        .map(|(name, fact)| format!("<dt>{name}</dt><dd>{}</dd>", escaped(fact)))
        .collect();
    let (contents, body, facts) = (contents.concat(), body.concat(), facts.concat());
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Numerical simulation of gluey particles, made again</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>Numerical simulation of gluey particles, made again</h1>\n\
         <p>What A. Lefebvre's paper shows, computed by gluey. Each part names what the paper says, what came out, how that \
         differs, and the commands that made it; they were run in the folder of this page.</p>\n{extent}\
         <dl>{facts}</dl>\n<nav><ol>\n{contents}</ol></nav>\n{body}</body>\n</html>\n"
    ))
}

fn part(section: &Section, done: &Done) -> Result<String> {
    let mut html = format!("<section id=\"{}\">\n<h2>{}</h2>\n", section.name, escaped(section.title));
    let mut paragraph = |heading: &str, text: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(html, "<p><strong>{heading}</strong> {}</p>", escaped(text));
    };
    paragraph("In the paper.", section.paper);
    paragraph("Differences.", section.differences);
    for (file, caption) in &section.figures {
        let _ = writeln!(
            html,
            "<figure><img alt=\"{0}\" src=\"{1}\"><figcaption>{0}</figcaption></figure>",
            escaped(caption),
            embedded(file.as_ref())?
        );
    }
    for (command, told) in section.commands.iter().zip(&done.told) {
        // What runs and pictures have to say is seldom looked at; tables are.
        let aside = ["gluey run", "gluey render"].iter().any(|words| command.starts_with(words));
        let open = if aside { "" } else { " open" };
        let _ = writeln!(html, "<details{open}><summary><code>{}</code></summary>", escaped(command));
        let _ = writeln!(html, "<pre>{}</pre></details>", escaped(told.trim_end()));
    }
    html += "</section>\n";
    Ok(html)
}

/// The address of a picture that holds the picture.
fn embedded(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read the figure {}", path.display()))?;
    let kind = if path.extension().is_some_and(|ending| ending == "svg") { "svg+xml" } else { "png" };
    Ok(format!("data:image/{kind};base64,{}", STANDARD.encode(bytes)))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_html_would_take_for_its_own_is_escaped() {
        assert_eq!(escaped("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
    }
}
