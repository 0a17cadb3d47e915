//! A step of a bed at rest needs no new memory: everything is found in what the last step left.
#![allow(unsafe_code, reason = "counting is what a global allocator is needed for, and its trait is unsafe")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use gluey::scene::Scene;
use gluey::simulation::StepReport;

/// The allocator of the system, and how often it was asked for memory.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BED: &str = r#"
time = { dt = 0.002, until = 10 }
environment = { gravity = [0, 0, -10], drag.coefficient = 1 }
solver.tolerance = 1e-4
[[particles]]
density = 1000
source.lattice = { lower = [0, 0, 0], upper = [0.4, 0.4, 0.6], spacing = 0.05, radius = 0.0249, jitter = 0.5, count = 500 }
[[obstacle]]
name = "box"
shape.box = { lower = [0, 0, 0], upper = [0.4, 0.4, 4], side = "inside", open = ["upper-z"] }
"#;

/// One test, because all threads of a process share the count.
#[test]
fn a_bed_at_rest_needs_no_new_memory() {
    // On a thread of the pool: whoever waits for a pool from outside allocates.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let wet = "pair-force = [{ obstacles = ['box'], bridge.linear = { strength = 1, rupture = 0.002 } }]\n";
    for law in ["", "contact.law.gluey = { gamma_min = -0.01 }\n", wet] {
        let mut simulation = Scene::parse(&format!("{law}{BED}"), Path::new("bed.toml")).unwrap().simulation;
        let mut report = StepReport::default();
        let allocations: Vec<usize> = pool.install(|| {
            for _ in 0..3000 {
                simulation.step_into(&mut report).unwrap();
            }
            let mut counts = Vec::with_capacity(50);
            for _ in 0..50 {
                let before = COUNT.load(Ordering::Relaxed);
                simulation.step_into(&mut report).unwrap();
                counts.push(COUNT.load(Ordering::Relaxed) - before);
            }
            counts
        });
        assert!(report.contacts > 1000, "{report:?}");
        assert_eq!(allocations, [0; 50], "{law}");
    }
}
