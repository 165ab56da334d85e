//! Named choices as values of flags, with what each is in the help.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lkdl_recipe::Named;

/// Parses the name of a choice.
pub fn by_name<N: Named + Send + Sync>() -> impl TypedValueParser<Value = N> {
    let value = |(choice, name, what): &(N, &'static str, &'static str)| {
        let aliases = N::ALIASES.iter().filter(|(_, aliased)| aliased == choice);
        PossibleValue::new(*name).help(*what).aliases(aliases.map(|(alias, _)| *alias))
    };
    PossibleValuesParser::new(N::ALL.iter().map(value))
        .try_map(|name| N::named(&name).ok_or("no such name"))
}
