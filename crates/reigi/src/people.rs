//! Who acts: a name for the journal, and the role that a charter wants for reading bodies.

use reigi_core::house_file::HouseFile;

use crate::exit::Failure;

/// The name that an entry bears: as told, else the account's.
pub(crate) fn name(told: Option<&str>) -> String {
    let told = told
        .map(str::to_owned)
        .filter(|name| !name.trim().is_empty());
    told.or_else(account)
        .unwrap_or_else(|| "operator".to_owned())
}

fn account() -> Option<String> {
    ["USER", "LOGNAME"]
        .iter()
        .filter_map(|n| std::env::var(n).ok())
        .find(|n| !n.is_empty())
}

/// A person in a role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Acting {
    /// The name.
    pub(crate) by: String,
    /// The role.
    pub(crate) role: String,
}

/// Who acts in one of `roles`: the one told, else the account, else the only person who has it.
///
/// # Errors
/// Nobody has such a role, several have and none was named, or the one named has not.
pub(crate) fn acting(
    file: &HouseFile,
    told: Option<&str>,
    roles: &[String],
) -> Result<Acting, Failure> {
    let in_role = |name: &str| {
        let role = roles
            .iter()
            .find(|role| file.has_role(name, std::slice::from_ref(role)))?;
        Some(Acting {
            by: name.to_owned(),
            role: role.clone(),
        })
    };
    if let Some(name) = told {
        return in_role(name).ok_or_else(|| no_role(name, roles));
    }
    if let Some(acting) = account().and_then(|name| in_role(&name)) {
        return Ok(acting);
    }
    let people: Vec<&String> = roles
        .iter()
        .filter_map(|role| file.roles.get(role))
        .flatten()
        .collect();
    match people.as_slice() {
        [only] => in_role(only).ok_or_else(|| no_role(only, roles)),
        [] => Err(no_role(&name(None), roles)),
        _ => Err(Failure::bad_input(
            "だれとして行うかが分かりません。",
            "It is not clear who acts.",
        )
        .hint("--by NAME で指定してください。", "Say it with --by NAME.")),
    }
}

fn no_role(name: &str, roles: &[String]) -> Failure {
    let list = roles.join(", ");
    Failure::no(
        format!("{name} さんには役割（{list}）がありません。"),
        format!("{name} has no role for this ({list})."),
    )
    .hint(
        "reigi.toml の [roles] に書くか、--by NAME で役割のある人を指定してください。",
        "Add the name under [roles] in reigi.toml, or name someone who has the role with --by.",
    )
}
