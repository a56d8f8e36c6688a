//! `public-only`: only addresses that the public web can have. (First cut; widened later.)

use std::net::IpAddr;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::gate::{Ask, Scene, Verdict};
use crate::host::is_special;

/// See the module.
pub struct PublicOnly;

/// The lane's looked-up addresses that may be connected to.
pub(crate) fn vetted(scene: &Scene<'_>) -> Vec<IpAddr> {
    let Some(Ok(found)) = scene.lane.addresses.as_ref().map(|a| a.found.as_ref()) else {
        return Vec::new();
    };
    found
        .iter()
        .copied()
        .filter(|a| may_connect(scene, *a))
        .collect()
}

fn may_connect(scene: &Scene<'_>, address: IpAddr) -> bool {
    if scene.charter.acceptance {
        return address.to_canonical().is_loopback();
    }
    !is_special(address)
        || scene
            .house
            .allow_private
            .iter()
            .any(|block| block.contains(address))
}

impl Promise for PublicOnly {
    fn id(&self) -> &'static str {
        "public-only"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "公開ページだけ",
            Lang::En => "Public pages only",
        }
    }

    fn say(&self, _charter: &Charter, lang: Lang) -> Option<String> {
        Some(match lang {
            Lang::Ja => "認証なしで一般に公開されているページだけを、GETで取得します。".into(),
            Lang::En => {
                "We ask only for pages that anyone can read without signing in, by GET.".into()
            }
        })
    }

    fn hold(&self, scene: &Scene<'_>, _ask: &Ask) -> Verdict {
        match &scene.lane.addresses {
            Some(_) if vetted(scene).is_empty() => Verdict::refuse(
                "ホスト名が一般に公開されたアドレスを指していません。",
                "The host name leads to no address of the public web.",
            ),
            _ => Verdict::Pass,
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Nothing))
    }
}

struct Nothing;

impl Proof for Nothing {
    fn see(&mut self, _entry: &Seen<'_>, _versions: &Versions<'_>) {}

    fn finish(self: Box<Self>) -> Finding {
        Finding::default()
    }
}
