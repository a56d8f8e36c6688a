//! `declared`: sentences that no program can prove. The page marks them so; the audit lists them
//! as declared and never as kept (DECISIONS 37).

use super::{Promise, Proof};
use crate::charter::{Charter, Lang};

/// See the module.
pub struct Declared;

impl Promise for Declared {
    fn id(&self) -> &'static str {
        "declared"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "宣言",
            Lang::En => "Declared",
        }
    }

    /// How many there are and what that means; the page sets the sentences themselves below.
    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let sentences = charter.declared.len();
        (sentences > 0).then(|| match lang {
            Lang::Ja => format!(
                "プログラムでは確かめられない約束が{sentences}件あります。守りますが、監査で「守られた」と数えることはありません。"
            ),
            Lang::En if sentences == 1 => {
                "One promise cannot be checked by a program. We keep it, but no audit counts it as kept.".into()
            }
            Lang::En => format!(
                "{sentences} promises cannot be checked by a program. We keep them, but no audit counts them as kept."
            ),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::testing::charter;

    #[test]
    fn it_says_how_many_and_proves_nothing() {
        let mut charter = charter();
        let count = charter.declared.len();
        let said = Declared.say(&charter, Lang::Ja).unwrap();
        assert!(count > 1 && said.contains(&format!("{count}件")), "{said}");
        assert!(Declared.prove().is_none());
        charter.declared.clear();
        assert_eq!(Declared.say(&charter, Lang::En), None);
    }
}
