//! Prints the policy page of a charter file: `cargo run -p reigi-core --example policy -- FILE
//! [ja|en] [html|md]`.

use std::process::ExitCode;

use reigi_core::charter::{Charter, Lang};
use reigi_core::policy::{CharterVersion, PageFacts, page};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = arguments.first() else {
        eprintln!("usage: policy CHARTER.toml [ja|en] [html|md]");
        return ExitCode::from(2);
    };
    let has = |word: &str| arguments.iter().skip(1).any(|a| a == word);
    let (lang, other) = if has("en") {
        (Lang::En, "ja.html")
    } else {
        (Lang::Ja, "en.html")
    };
    match print(file, lang, other, has("md")) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn print(file: &str, lang: Lang, other: &str, markdown: bool) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let charter = Charter::parse(file, &text).map_err(|p| p.render(&text, lang))?;
    let facts = PageFacts {
        other_lang_href: Some(other.to_owned()),
        versions: vec![CharterVersion {
            version: 1,
            date: charter.updated.clone(),
            digest: charter.digest,
        }],
        ..PageFacts::default()
    };
    let page = page(&charter, &facts, lang).map_err(|e| e.to_string())?;
    Ok(if markdown {
        page.markdown()
    } else {
        page.html()
    })
}
