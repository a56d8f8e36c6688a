//! JSON-LD as sites write it: strict JSON first, then with the usual blemishes removed.

use serde_json::Value;

/// The largest script read, in bytes.
const LARGEST: usize = 4 << 20;

/// The value of one script, and what had to be overlooked to read it.
pub(super) fn read(script: &str) -> Result<(Value, Option<String>), String> {
    if script.len() > LARGEST {
        return Err(format!("{} bytes, not read", script.len()));
    }
    let strict = match serde_json::from_str(script) {
        Ok(value) => return Ok((value, None)),
        Err(error) => error,
    };
    let mut blemishes = Vec::new();
    let bare = unwrap(script, &mut blemishes);
    let mended = mend(bare, &mut blemishes);
    let mut values = serde_json::Deserializer::from_str(&mended).into_iter::<Value>();
    let Some(Ok(value)) = values.next() else {
        return Err(strict.to_string());
    };
    let rest = mended
        .get(values.byte_offset()..)
        .unwrap_or_default()
        .trim();
    if rest.chars().all(|c| c == ';' || c.is_whitespace()) {
        if !rest.is_empty() {
            blemishes.push("trailing `;`");
        }
    } else {
        blemishes.push("text after the value");
    }
    if blemishes.is_empty() {
        blemishes.push("stray characters");
    }
    Ok((value, Some(blemishes.join(", "))))
}

/// Without a comment or CDATA wrapper, and without a byte order mark.
fn unwrap<'a>(script: &'a str, blemishes: &mut Vec<&'static str>) -> &'a str {
    let trim = |text: &'a str| text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut text = trim(script);
    let wrappers = [
        ("<!--", "-->"),
        ("//<![CDATA[", "//]]>"),
        ("<![CDATA[", "]]>"),
        ("/*<![CDATA[*/", "/*]]>*/"),
    ];
    for (before, after) in wrappers {
        let inner = text.strip_prefix(before).map(trim);
        if let Some(inner) = inner.filter(|inner| inner.starts_with(['{', '['])) {
            text = inner;
            blemishes.push("wrapped in a comment or CDATA");
            let end = text
                .strip_suffix(after)
                .or_else(|| text.strip_suffix("// ]]>"));
            text = trim(end.unwrap_or(text).trim_end().trim_end_matches("//"));
        }
    }
    text
}

/// Outside strings: comments and trailing commas dropped. Inside strings: raw line breaks and
/// other control characters escaped.
fn mend(text: &str, blemishes: &mut Vec<&'static str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut note = |what: &'static str| {
        if !blemishes.contains(&what) {
            blemishes.push(what);
        }
    };
    let mut chars = text.char_indices().peekable();
    let (mut in_string, mut escaped) = (false, false);
    while let Some((at, c)) = chars.next() {
        if in_string {
            if c.is_control() {
                note("control character in a string");
                out.push_str(if c == '\t' { "\\t" } else { "\\n" });
            } else {
                out.push(c);
            }
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let comment = if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 2)
        } else if rest.starts_with("<!--") {
            rest.find("-->").map(|end| end + 3)
        } else if rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else {
            None
        };
        if let Some(length) = comment {
            note("comment");
            while chars.next_if(|(next, _)| *next < at + length).is_some() {}
        } else if c == ',' && rest.get(1..).is_some_and(closes) {
            note("trailing comma");
        } else {
            in_string = c == '"';
            out.push(c);
        }
    }
    out
}

fn closes(after_comma: &str) -> bool {
    after_comma.trim_start().starts_with(['}', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blemishes_are_overlooked_and_named() {
        let cases = [
            (r#"{"a":1}"#, Some(None)),
            (r#"{"a":1};"#, Some(Some("trailing `;`"))),
            (
                "//<![CDATA[\n{\"a\":1}\n//]]>",
                Some(Some("wrapped in a comment or CDATA")),
            ),
            (
                "<!-- {\"a\":1} -->",
                Some(Some("wrapped in a comment or CDATA")),
            ),
            (r#"/* x */ {"a":1}"#, Some(Some("comment"))),
            ("<!-- x -->\n{\"a\":1}", Some(Some("comment"))),
            (r#"{"a":1,}"#, Some(Some("trailing comma"))),
            (r#"{"a":1} x"#, Some(Some("text after the value"))),
            ("{bad}", None),
            ("", None),
        ];
        for (script, want) in cases {
            let read = read(script).ok();
            assert_eq!(
                read.as_ref().map(|(_, note)| note.as_deref()),
                want,
                "{script}"
            );
            if let Some((value, _)) = read {
                assert_eq!(value, serde_json::json!({"a": 1}), "{script}");
            }
        }
    }

    #[test]
    fn strings_keep_what_looks_like_a_blemish() {
        let (value, _) =
            read("{\"u\":\"https://a.example/*x*/,}\\\"//\",\n\"v\":\"a\nb\",}").unwrap();
        assert_eq!(value["u"], "https://a.example/*x*/,}\"//");
        assert_eq!(value["v"], "a\nb");
    }
}
