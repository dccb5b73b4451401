//! Says which channels are used for which events.

use std::collections::BTreeMap;

use lango_notification::NotificationEvent;
use serde::{Deserialize, Serialize};

use crate::AutomatorError;

/// Limits the channels of one event.
const MAX_CHANNEL_COUNT: usize = 10;

/// The channels of each event, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NotificationRoutes(BTreeMap<NotificationEvent, Vec<String>>);

impl NotificationRoutes {
    /// Reads routes as a person types them: `EVENT=CHANNEL,CHANNEL` each, or `none`.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, AutomatorError> {
        let mut routes = Self::default();
        for text in texts {
            if text.trim() == "none" {
                continue;
            }
            let (event, channels) = text.split_once('=').ok_or_else(|| {
                let reason = format!(
                    "{text:?} is no route. Write EVENT=CHANNEL, such as failure=desktop, or none"
                );
                AutomatorError::Refused(reason)
            })?;
            let event = event.trim().parse().map_err(AutomatorError::Refused)?;
            let names = channels.split(',').map(str::trim).filter(|name| !name.is_empty());
            for name in names {
                routes.add(event, name);
            }
        }
        Ok(routes)
    }

    /// Adds a channel of an event.
    pub fn add(&mut self, event: NotificationEvent, channel: &str) {
        let channels = self.0.entry(event).or_default();
        if !channels.iter().any(|name| name == channel) && channels.len() < MAX_CHANNEL_COUNT {
            channels.push(channel.to_owned());
        }
    }

    /// Returns the channels of an event.
    pub fn channels(&self, event: NotificationEvent) -> &[String] {
        self.0.get(&event).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the names of all channels.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.values().flatten().map(String::as_str)
    }

    /// Refuses names that no channel has.
    pub fn check(&self, known: &[String]) -> Result<(), AutomatorError> {
        let Some(unknown) = self.names().find(|name| !known.iter().any(|known| known == name))
        else {
            return Ok(());
        };
        let there = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
        Err(AutomatorError::Refused(format!(
            "there is no channel {unknown:?} ({there}). Add one: lango config set \
             automator.channels.{unknown}.kind desktop"
        )))
    }

    /// Describes them in one line.
    pub fn describe(&self) -> String {
        let one = |(event, channels): (&NotificationEvent, &Vec<String>)| {
            format!("{event}={}", channels.join(","))
        };
        let all: Vec<String> =
            self.0.iter().filter(|(_, channels)| !channels.is_empty()).map(one).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(" ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_typed_and_shown_alike() {
        let routes = NotificationRoutes::parse(["failure=desktop,mail", "approval=mail"]).unwrap();
        assert_eq!(routes.channels(NotificationEvent::Failure), ["desktop", "mail"]);
        assert!(routes.channels(NotificationEvent::Success).is_empty());
        assert_eq!(routes.describe(), "failure=desktop,mail approval=mail");
        assert_eq!(NotificationRoutes::parse(["none"]).unwrap().describe(), "none");
    }

    #[test]
    fn what_is_no_event_or_no_channel_is_refused() {
        for wrong in ["desktop", "end=desktop"] {
            assert!(NotificationRoutes::parse([wrong]).is_err(), "{wrong}");
        }
        let routes = NotificationRoutes::parse(["failure=pager"]).unwrap();
        let error = routes.check(&["desktop".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("pager") && error.contains("desktop"), "{error}");
    }
}
