//! Which elements a reader sees, and how: hidden or shown, line or block, region, path.
//!
//! Scripts and style sheets are not run, so "hidden" is what the markup itself says: elements that
//! are never shown, the `hidden` attribute, and `display:none` in a `style` attribute.
//! Decisions: `noscript` is not shown (as in a browser that runs scripts); `aria-hidden` text is
//! shown (it is hidden from screen readers only); `hidden=until-found`, closed `details`, closed
//! `dialog` and the choices of a `select` are shown (a reader can open them); of ruby only the
//! base text is kept, so that a reading added above a word is no change of the word.

use html5ever::{local_name, ns};
use scraper::node::Element;

use crate::dom::attr;
use crate::page::{BlockKind, Region};

/// Whether the element and all below it is out of sight.
pub(crate) fn is_hidden(element: &Element) -> bool {
    let never = matches!(
        element.name.local,
        local_name!("script")
            | local_name!("style")
            | local_name!("template")
            | local_name!("noscript")
            | local_name!("head")
            | local_name!("title")
            | local_name!("svg")
            | local_name!("iframe")
            | local_name!("noframes")
            | local_name!("noembed")
            | local_name!("object")
            | local_name!("audio")
            | local_name!("video")
            | local_name!("canvas")
            | local_name!("datalist")
            | local_name!("rt")
            | local_name!("rp")
    );
    never
        || element.attrs.iter().any(|(name, value)| match name.local {
            local_name!("hidden") => !value.trim().eq_ignore_ascii_case("until-found"),
            local_name!("style") => displays_none(value),
            _ => false,
        })
}

/// `display: none` among the declarations of a `style` attribute; the last `display` counts.
fn displays_none(style: &str) -> bool {
    if !style.bytes().any(|b| b == b':') {
        return false;
    }
    let display = style.split(';').rev().find_map(|declaration| {
        let (property, value) = declaration.split_once(':')?;
        property
            .trim()
            .eq_ignore_ascii_case("display")
            .then_some(value)
    });
    let value = display.unwrap_or_default().trim();
    value
        .get(..4)
        .is_some_and(|v| v.eq_ignore_ascii_case("none"))
        && value.get(4..).is_some_and(|rest| {
            let rest = rest.trim();
            rest.is_empty() || rest.starts_with('!')
        })
}

/// Whether the element begins and ends a line.
pub(crate) fn is_block(element: &Element) -> bool {
    !matches!(
        element.name.local,
        local_name!("a")
            | local_name!("abbr")
            | local_name!("acronym")
            | local_name!("b")
            | local_name!("bdi")
            | local_name!("bdo")
            | local_name!("big")
            | local_name!("br")
            | local_name!("cite")
            | local_name!("code")
            | local_name!("data")
            | local_name!("del")
            | local_name!("dfn")
            | local_name!("em")
            | local_name!("font")
            | local_name!("i")
            | local_name!("img")
            | local_name!("input")
            | local_name!("ins")
            | local_name!("kbd")
            | local_name!("label")
            | local_name!("map")
            | local_name!("mark")
            | local_name!("meter")
            | local_name!("nobr")
            | local_name!("output")
            | local_name!("picture")
            | local_name!("progress")
            | local_name!("q")
            | local_name!("rb")
            | local_name!("ruby")
            | local_name!("s")
            | local_name!("samp")
            | local_name!("small")
            | local_name!("source")
            | local_name!("span")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("sub")
            | local_name!("sup")
            | local_name!("time")
            | local_name!("tt")
            | local_name!("u")
            | local_name!("var")
            | local_name!("wbr")
            | local_name!("area")
            | local_name!("link")
            | local_name!("meta")
    ) && element.name.ns == ns!(html)
        && !element.name.local.contains('-')
}

/// The kind that the element gives its text; nothing where it takes that of its parent.
pub(crate) fn kind(element: &Element) -> Option<BlockKind> {
    Some(match element.name.local {
        local_name!("h1") => BlockKind::Heading(1),
        local_name!("h2") => BlockKind::Heading(2),
        local_name!("h3") => BlockKind::Heading(3),
        local_name!("h4") => BlockKind::Heading(4),
        local_name!("h5") => BlockKind::Heading(5),
        local_name!("h6") => BlockKind::Heading(6),
        local_name!("li") => BlockKind::Item,
        local_name!("td") | local_name!("th") => BlockKind::Cell,
        local_name!("caption") | local_name!("figcaption") | local_name!("legend") => {
            BlockKind::Caption
        }
        local_name!("dt") => BlockKind::Term,
        local_name!("dd") => BlockKind::Definition,
        local_name!("button") => BlockKind::Button,
        local_name!("option") => BlockKind::Choice,
        local_name!("summary") => BlockKind::Summary,
        local_name!("pre") | local_name!("textarea") => BlockKind::Pre,
        _ => return None,
    })
}

/// The region that the element opens, by its name, its role, or (for `div`) the ids that authors
/// gave regions before there were elements for them. A header or footer of a section is none.
pub(crate) fn region(element: &Element, in_section: bool) -> Option<Region> {
    if let Some(role) = attr(element, &local_name!("role")) {
        match role.trim() {
            "main" => return Some(Region::Main),
            "navigation" => return Some(Region::Nav),
            "banner" => return Some(Region::Header),
            "contentinfo" => return Some(Region::Footer),
            "complementary" => return Some(Region::Aside),
            "dialog" | "alertdialog" => return Some(Region::Dialog),
            _ => {}
        }
    }
    match element.name.local {
        local_name!("main") => Some(Region::Main),
        local_name!("nav") => Some(Region::Nav),
        local_name!("aside") => Some(Region::Aside),
        local_name!("dialog") => Some(Region::Dialog),
        local_name!("header") if !in_section => Some(Region::Header),
        local_name!("footer") if !in_section => Some(Region::Footer),
        local_name!("div") => region_of_id(attr(element, &local_name!("id"))?),
        _ => None,
    }
}

fn region_of_id(id: &str) -> Option<Region> {
    let is = |names: &[&str]| names.iter().any(|name| id.eq_ignore_ascii_case(name));
    if is(&["main", "main-content", "maincontent", "content", "contents"]) {
        Some(Region::Main)
    } else if is(&[
        "nav",
        "navi",
        "gnav",
        "gnavi",
        "globalnav",
        "globalnavi",
        "global-nav",
    ]) {
        Some(Region::Nav)
    } else if is(&["side", "sidebar", "side-bar"]) {
        Some(Region::Aside)
    } else if is(&["header"]) {
        Some(Region::Header)
    } else if is(&["footer"]) {
        Some(Region::Footer)
    } else {
        None
    }
}

/// Whether headers and footers below this element are its own, not the page's.
pub(crate) fn is_section(element: &Element) -> bool {
    matches!(
        element.name.local,
        local_name!("main")
            | local_name!("article")
            | local_name!("section")
            | local_name!("aside")
            | local_name!("nav")
    )
}

/// Elements of a [`path`]: at most this many.
const STEPS: usize = 4;

/// A short css-like path of the innermost of `elements` (given from the inside out): up to the
/// nearest id that a person would have given, at most four steps.
pub(crate) fn path<'a>(elements: impl Iterator<Item = &'a Element>) -> String {
    let mut steps: Vec<(&str, &str, &str)> = Vec::with_capacity(STEPS);
    for element in elements.take(STEPS) {
        let id = attr(element, &local_name!("id"))
            .filter(|id| is_stable(id))
            .unwrap_or_default();
        let class = attr(element, &local_name!("class")).unwrap_or_default();
        let class = class
            .split_ascii_whitespace()
            .find(|class| is_stable(class));
        steps.push((element.name(), id, class.unwrap_or_default()));
        if !id.is_empty() {
            break;
        }
    }
    let mut path = String::with_capacity(48);
    for (name, id, class) in steps.iter().rev() {
        if !path.is_empty() {
            path.push('>');
        }
        path.push_str(crate::line::cut(name, 32));
        if !id.is_empty() {
            path.push('#');
            path.push_str(id);
        } else if !class.is_empty() {
            path.push('.');
            path.push_str(class);
        }
    }
    path
}

/// Not a name that a build or a counter made.
fn is_stable(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.bytes().filter(u8::is_ascii_digit).count() < 3
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_display_declaration_hides() {
        let cases = [
            ("display:none", true),
            ("color:red; DISPLAY : None !important;", true),
            ("display:none;display:block", false),
            ("display:nonesuch", false),
            ("x-display:none", false),
            ("background:url(display:none)", false),
            ("", false),
        ];
        for (style, want) in cases {
            assert_eq!(displays_none(style), want, "{style}");
        }
    }
}
