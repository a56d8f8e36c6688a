//! The language that people are answered in: `--lang`, else the locale's, else the house's.

use std::sync::OnceLock;

use reigi_core::charter::Lang;

/// The language of the house that was opened: a failure after that is told in it, too.
static HOUSE: OnceLock<Lang> = OnceLock::new();

/// Notes the opened house's language; the first house counts.
pub(crate) fn note_house(lang: Lang) {
    let _ = HOUSE.set(lang);
}

/// The opened house's language.
pub(crate) fn of_house() -> Option<Lang> {
    HOUSE.get().copied()
}

/// Japanese or English, as told or as the locale says; `None`: neither says one of the two.
pub(crate) fn chosen(told: Option<Lang>) -> Option<Lang> {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    // As in POSIX, the first variable that is set decides.
    let set = || {
        names
            .iter()
            .filter_map(|n| std::env::var(n).ok())
            .find(|v| !v.is_empty())
    };
    told.or_else(|| of_locale(&set()?))
}

/// Picks a text by language.
pub(crate) fn pick<'a>(lang: Lang, ja: &'a str, en: &'a str) -> &'a str {
    match lang {
        Lang::Ja => ja,
        Lang::En => en,
    }
}

fn of_locale(locale: &str) -> Option<Lang> {
    let language = locale.split(['_', '.', '@', '-']).next()?;
    match language {
        "ja" => Some(Lang::Ja),
        "en" => Some(Lang::En),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_names_its_language_first() {
        for (locale, lang) in [
            ("ja_JP.UTF-8", Some(Lang::Ja)),
            ("ja", Some(Lang::Ja)),
            ("en_GB.UTF-8", Some(Lang::En)),
            ("en-US", Some(Lang::En)),
            ("C.UTF-8", None),
            ("POSIX", None),
            ("jam_JM", None),
        ] {
            assert_eq!(of_locale(locale), lang, "{locale}");
        }
    }
}
