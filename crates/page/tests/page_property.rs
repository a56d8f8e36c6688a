//! Whatever the bytes are, they are read, and what is read is well formed.

use proptest::prelude::*;
use reigi_page::{Page, Read, signals_from_headers};

fn check(body: &[u8], content_type: Option<&str>) {
    let Read::Html(page) = Page::read(body, content_type) else {
        return;
    };
    for block in &page.blocks {
        let text = &block.text;
        assert!(!text.is_empty());
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert_eq!(text.trim(), text);
        assert!(!text.contains("  "), "{text:?}");
    }
    assert!(page.notes.len() <= Page::MAX_NOTES);
    assert_eq!(
        Read::Html(page),
        Page::read(body, content_type),
        "the same bytes, read twice"
    );
}

/// Scraps of markup that fit together in every wrong way.
fn soup() -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        Just("<table>"),
        Just("<tr>"),
        Just("<td rowspan=3>"),
        Just("<th colspan=2>"),
        Just("</table>"),
        Just("<p>"),
        Just("</p>"),
        Just("<b>"),
        Just("</b>"),
        Just("<a href=x>"),
        Just("</a>"),
        Just("<div itemscope itemprop=a>"),
        Just("<i itemprop=b itemref=q>"),
        Just("</div>"),
        Just("<div id=q typeof=T>"),
        Just("<svg>"),
        Just("<title>"),
        Just("<template>"),
        Just("<select>"),
        Just("<option>"),
        Just("<h2>"),
        Just("<ruby>"),
        Just("<rt>"),
        Just("<pre>\n"),
        Just("<!--"),
        Just("-->"),
        Just("<script type=application/ld+json>"),
        Just("</script>"),
        Just("<body a=b>"),
        Just("<frameset>"),
        Just("<math><mi>"),
        Just("<![CDATA["),
        Just("]]>"),
        Just("&amp;"),
        Just("&#0;"),
        Just("{\"a\":1,}"),
        Just("料金 500円\n"),
        Just("　"),
        Just(" \t"),
        Just("<nav>"),
        Just("<main>"),
        Just("<input type=submit value=v>"),
        Just("<br>"),
        Just("<meta charset=euc-jp>"),
        Just("<?xml "),
    ];
    prop::collection::vec(scrap, 0..80).prop_map(|scraps| scraps.concat())
}

proptest! {
    #[test]
    fn any_bytes(body in prop::collection::vec(any::<u8>(), 0..600), html in any::<bool>()) {
        check(&body, html.then_some("text/html"));
    }

    #[test]
    fn any_markup(body in soup(), label in prop::sample::select(vec!["text/html", "application/xml",
        "text/html; charset=shift_jis", "text/plain", "text/html; charset=utf-16le"])) {
        check(body.as_bytes(), Some(label));
        check(body.as_bytes(), None);
    }

    #[test]
    fn any_headers(name in "(?i)x-robots-tag|link|tdm-policy|content-usage", value in "\\PC{0,80}") {
        let _ = signals_from_headers(&[(&name, &value)]);
    }

    #[test]
    fn text_survives_every_japanese_charset(text in "[ぁ-んァ-ヶ一-龠ａ-ｚ０-９。、]{1,60}") {
        let source = format!("<p>{text}</p>");
        for charset in ["shift_jis", "euc-jp", "iso-2022-jp", "utf-8"] {
            let encoding = encoding_rs::Encoding::for_label(charset.as_bytes()).unwrap();
            let (bytes, _, lossy) = encoding.encode(&source);
            if lossy {
                continue;
            }
            let Read::Html(page) = Page::read(&bytes, Some(&format!("text/html;charset={charset}")))
            else { panic!("no text") };
            prop_assert_eq!(page.text(), text.as_str());
        }
    }
}
