//! What the page may colour particles by: the table of pictures, as data with the rules by which the page finds values.

use gluey::scene::{ColourBy, Field};
use serde_json::{Value, json};

/// Name, title, start and rule of each field, in the order of the table.
pub(crate) fn fields() -> Vec<Value> {
    let row = |choice: ColourBy| {
        let Field { title, start, rule } = choice.field();
        json!({ "name": choice.name(), "title": title, "start": start, "rule": rule })
    };
    ColourBy::ALL.map(row).into()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use gluey::contact::{Contact, ContactGeometry, Pair};
    use gluey::geometry::Particles;
    use gluey::trajectory::{Frame, encode};

    use super::*;

    /// Numbers that a frame in few bytes holds as they are.
    fn case(dimension: u8) -> Value {
        let mut particles = Particles::default();
        let depth = if dimension == 2 { 0.0 } else { 1.0 };
        for k in 0..4 {
            let part = f64::from(k + 1);
            particles.push(DVec3::new(1e6 + part, -0.5 * part, depth * part * part), 0.25 + part, 8.0 - part);
            particles.velocity[k as usize] = DVec3::new(3.0 * part, -4.0 * part, depth * 12.0 * part);
            particles.group[k as usize] = k % 3;
        }
        let contact = |pair, gamma, impulse| {
            let contact = Contact { pair, gamma, impulse };
            ContactGeometry { contact, gap: 0.0, normal: DVec3::X }
        };
        let contacts = [
            contact(Pair::particles(0, 1), -1.5, 5.0),
            contact(Pair::particles(1, 2), 0.0, -0.5),
            contact(Pair::obstacle(1, 0, 0), -0.25, 7.0),
            contact(Pair::obstacle(3, 1, 0), 0.0, -2.0),
        ];
        let (particles, contacts) = (&particles, &contacts);
        let frame = Frame { step: 1, time: 0.5, particles, contacts, obstacles: &[], clump: &[] };
        let values = |choice: ColourBy| (choice.name().to_owned(), json!(choice.values(particles, contacts)));
        let values: serde_json::Map<String, Value> = ColourBy::ALL.map(values).into_iter().collect();
        json!({ "frame": encode(&frame, dimension).unwrap(), "values": values })
    }

    #[test]
    fn the_page_is_tested_with_the_fields_and_values_of_pictures() {
        let expected = json!({ "fields": fields(), "cases": [case(2), case(3)] });
        let kept = include_str!("../tests/browser/fields.json");
        let same = serde_json::from_str::<Value>(kept).is_ok_and(|kept| kept == expected);
        assert!(same, "put this into tests/browser/fields.json, and see that `npm test` passes:\n{expected}");
    }
}
