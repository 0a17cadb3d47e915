//! Runs with rigid clumps.

use crate::Place;

/// Gluey dumbbells that fall into a cell which repeats, among spheres.
const DUMBBELLS: &str = r"
name = 'dumbbells'
seed = 5
[time]
dt = 0.004
until = 0.4
[periodic]
x = [0, 2]
[contact.law.gluey]
gamma_min = -0.05
[environment]
gravity = [1, 0, -10]
[[particles]]
density = 1
source.fill = { count = 8, radius = 0.1, region.box = { lower = [0, 0, 0], upper = [2, 0.8, 0.5] } }
[[clump]]
name = 'dumbbell'
density = 1
make.spheres = [{ position = [-0.15, 0, 0], radius = 0.12 }, { position = [0.15, 0, 0.05], radius = 0.1 }]
place.fill = { count = 12, region.box = { lower = [0, 0, 0], upper = [2, 0.8, 1.2] } }
[[obstacle]]
name = 'gutter'
shape.box = { side = 'inside', lower = [-9, 0, 0], upper = [9, 0.8, 5], open = ['lower-x', 'upper-x', 'upper-z'] }
[output]
frame_every = 7
checkpoint_every = 9
";

#[test]
fn stopped_and_resumed_leaves_the_same_bytes() {
    let place = Place::new();
    place.write("dumbbells.toml", DUMBBELLS);
    place.gluey(&["run", "dumbbells.toml", "--out=whole", "--threads=1"]).succeeds();
    place.gluey(&["run", "dumbbells.toml", "--out=parts", "--until=0.1", "--threads=2"]).succeeds();
    place.gluey(&["run", "--resume", "--out=parts", "--until=0.252"]).succeeds();
    place.gluey(&["run", "--resume", "--out=parts", "--until=0.4"]).succeeds();
    place.assert_same("whole", "parts");
}
