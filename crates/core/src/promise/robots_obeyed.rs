//! `robots-obeyed`: what robots.txt refuses us is not fetched. (First cut; widened later.)

use super::{Promise, Proof};
use crate::charter::{Charter, Lang};
use crate::event::RobotsBasis;
use crate::gate::{Ask, Scene};

/// See the module.
pub struct RobotsObeyed;

/// The evidence that a page request rests on.
pub(crate) fn basis(_scene: &Scene<'_>, _ask: &Ask) -> Option<RobotsBasis> {
    None
}

impl Promise for RobotsObeyed {
    fn id(&self) -> &'static str {
        "robots-obeyed"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "robots.txt の遵守",
            Lang::En => "robots.txt obeyed",
        }
    }

    fn say(&self, _charter: &Charter, _lang: Lang) -> Option<String> {
        None
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        None
    }
}
