//! The fractal dimension of clusters, in two ways.
//!
//! *Sandbox*, within one cluster: D is the slope of ln N(r) over ln r, with N(r) the mean number of centres within r of a
//! centre near the middle. *Gyration*, over many clusters: N ~ (R_g)^D, the slope of ln N over ln R_g. Both are the slopes
//! of least squares.
//!
//! Limits: a slope over less than a factor of ten in length is a description rather than a proof, and a fractal with a
//! ratio of scales of its own makes N(r) oscillate about the power law. On exact sets the sandbox is off by less than 0.04
//! (line, square, cube) and 0.08 (Vicsek's cross, Sierpinski's triangle); the tests say so.

use glam::DVec3;

/// Most centres that are looked from; of more, every k-th.
const MOST_SEEDS: usize = 200;
/// Radii at which centres are counted.
const RADII: usize = 24;
/// Least radius, in diameters: below, the lattice of the neighbours shows and not the cluster.
const LEAST: f64 = 2.0;
/// Seeds lie within this share of the radius of gyration about the middle, and radii go up to the other: balls then stay
/// within a line, a square or a cube.
const SEEDS: f64 = 0.4;
const MOST: f64 = 0.6;
/// The greatest radius must exceed the least by this factor for a slope.
const LEAST_SPAN: f64 = 2.0;
/// Clusters of fewer particles have no shape to speak of.
const LEAST_CLUSTER: usize = 4;
/// Clusters that a slope needs, and the ratio of the largest to the smallest.
const LEAST_CLUSTERS: usize = 5;
const LEAST_RATIO: f64 = 4.0;

/// A power law through points, and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The exponent.
    pub dimension: f64,
    /// Root mean square of what is left, in ln N.
    pub scatter: f64,
    /// Points that it goes through.
    pub points: usize,
}

/// The straight line of least squares through (ln length, ln number).
fn fit(points: &[(f64, f64)]) -> Option<Fit> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let square: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let dimension = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / square;
    let left = points.iter().map(|p| (p.1 - y - dimension * (p.0 - x)).powi(2)).sum::<f64>();
    (square > 0.0).then(|| Fit { dimension, scatter: (left / count).sqrt(), points: points.len() })
}

fn middle(centres: &[DVec3]) -> DVec3 {
    centres.iter().sum::<DVec3>() / centres.len().max(1) as f64
}

/// The radius of gyration of points of equal mass, R_g² = ⟨|x − ⟨x⟩|²⟩ (length); 0 of none.
#[must_use]
pub fn gyration_radius(centres: &[DVec3]) -> f64 {
    let middle = middle(centres);
    let sum: f64 = centres.iter().map(|x| x.distance_squared(middle)).sum();
    (sum / centres.len().max(1) as f64).sqrt()
}

/// The dimension of one cluster of particles of about this diameter, by the sandbox. None where 0.6 R_g is less than twice the
/// least radius of two diameters: a few hundred particles are needed in a plane.
#[must_use]
pub fn sandbox_dimension(centres: &[DVec3], diameter: f64) -> Option<Fit> {
    let (middle, size) = (middle(centres), gyration_radius(centres));
    let (least, most) = (LEAST * diameter, MOST * size);
    if !(least > 0.0 && most >= LEAST_SPAN * least) {
        return None;
    }
    let distance = |x: &&DVec3| x.distance(middle);
    let mut seeds: Vec<&DVec3> = centres.iter().filter(|x| distance(x) <= SEEDS * size).collect();
    // A ring has nobody in its middle.
    seeds.extend(centres.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).filter(|_| seeds.is_empty()));
    let every = seeds.len().div_ceil(MOST_SEEDS);
    let radii: [f64; RADII] = std::array::from_fn(|k| least * (most / least).powf(k as f64 / (RADII - 1) as f64));
    let (mut counts, mut looked) = ([0_u64; RADII], 0.0);
    for seed in seeds.into_iter().step_by(every) {
        looked += 1.0;
        for x in centres {
            let first = radii.partition_point(|radius| *radius < x.distance(*seed));
            counts.iter_mut().skip(first).take(1).for_each(|count| *count += 1);
        }
    }
    let mut within = 0_u64;
    let points = radii.iter().zip(counts).map(|(radius, count)| {
        within += count;
        (radius.ln(), (within as f64 / looked).ln())
    });
    fit(&points.collect::<Vec<_>>())
}

/// The dimension that many clusters share, from how their numbers of particles grow with their radii of gyration. None of
/// fewer than five clusters of four particles or more, or where the largest is less than four times the smallest.
#[must_use]
pub fn gyration_dimension<'a>(clusters: impl Iterator<Item = &'a [DVec3]>) -> Option<Fit> {
    let big = clusters.filter(|centres| centres.len() >= LEAST_CLUSTER);
    let points: Vec<(f64, f64)> =
        big.map(|centres| (gyration_radius(centres).ln(), (centres.len() as f64).ln())).collect();
    let least = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    if points.len() >= LEAST_CLUSTERS && most - least >= LEAST_RATIO.ln() { fit(&points) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(sides: [u32; 3]) -> Vec<DVec3> {
        let [a, b, c] = sides;
        let sites = (0..a).flat_map(|i| (0..b).flat_map(move |j| (0..c).map(move |k| [i, j, k])));
        sites.map(|site| DVec3::from(site.map(f64::from))).collect()
    }

    /// Copies of a set at these places, `times` over, each generation larger by the scale.
    fn grown(places: &[DVec3], scale: f64, times: i32) -> Vec<DVec3> {
        let mut set = vec![DVec3::ZERO];
        for k in 0..times {
            let size = scale.powi(k);
            set = places.iter().flat_map(|place| set.iter().map(move |x| *x + *place * size)).collect();
        }
        set
    }

    fn near(found: Option<Fit>, expected: f64, tolerance: f64) {
        let found = found.unwrap();
        assert!((found.dimension - expected).abs() < tolerance, "{found:?}, not {expected}");
    }

    #[test]
    fn lines_squares_and_cubes_have_the_dimension_of_their_names() {
        near(sandbox_dimension(&block([301, 1, 1]), 1.0), 1.0, 0.04);
        near(sandbox_dimension(&block([61, 61, 1]), 1.0), 2.0, 0.04);
        near(sandbox_dimension(&block([25, 25, 25]), 1.0), 3.0, 0.04);
    }

    #[test]
    fn fractals_have_the_dimension_of_their_construction() {
        let cross = [DVec3::ZERO, DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y];
        near(sandbox_dimension(&grown(&cross, 3.0, 5), 1.0), 5.0_f64.ln() / 3.0_f64.ln(), 0.08);
        let triangle = [DVec3::ZERO, DVec3::X, DVec3::new(0.5, 0.75_f64.sqrt(), 0.0)];
        near(sandbox_dimension(&grown(&triangle, 2.0, 8), 1.0), 3.0_f64.ln() / 2.0_f64.ln(), 0.08);
        let star = [DVec3::ZERO, DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z];
        near(sandbox_dimension(&grown(&star, 3.0, 5), 1.0), 7.0_f64.ln() / 3.0_f64.ln(), 0.08);
    }

    #[test]
    fn clusters_of_all_sizes_share_a_dimension() {
        let of = |clusters: &[Vec<DVec3>]| gyration_dimension(clusters.iter().map(Vec::as_slice));
        let squares: Vec<_> = (4..40).map(|n| block([n, n, 1])).collect();
        near(of(&squares), 2.0, 0.02);
        let lines: Vec<_> = (8..40).map(|n| block([n, 1, 1])).collect();
        near(of(&lines), 1.0, 0.02);
        let cross = [DVec3::ZERO, DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y];
        let crosses: Vec<_> = (1..6).map(|times| grown(&cross, 3.0, times)).collect();
        near(of(&crosses), 5.0_f64.ln() / 3.0_f64.ln(), 0.03);
        assert_eq!(of(&crosses[1..]), None, "four are too few");
        assert_eq!(of(&lines[..8]), None, "they are all about as large");
    }

    #[test]
    fn small_clusters_have_no_dimension() {
        assert_eq!(sandbox_dimension(&[], 1.0), None);
        assert_eq!(sandbox_dimension(&block([3, 3, 3]), 1.0), None);
        assert_eq!(sandbox_dimension(&[DVec3::ZERO; 50], 1.0), None);
        assert!((gyration_radius(&block([2, 1, 1])) - 0.5).abs() < 1e-15);
    }
}
