//! Fixed points that never lose ground.
//!
//! The fixed-point maps of pre-images all move along an ascent direction of |g|,
//! g(z) = Σ_s a_sκ(z,x_s), but with weights of both signs a whole step may overshoot. So a step is
//! halved until |g| does not fall.

/// Steps of one climb.
const MAX_STEPS: usize = 200;
/// Halvings before a step counts as none.
const HALVINGS: u32 = 20;
/// Rounding of g that does not count as a fall, relative.
const SLACK: f64 = 4.0 * f64::EPSILON;
/// A step this short, relative to [`Surface::scale`], has arrived.
const ARRIVED: f64 = 1e-10;

/// g, and where its fixed point leads from a place.
pub(super) trait Surface {
    /// g(z), and where to go next.
    fn look(&self, z: &[f64]) -> (f64, Vec<f64>);

    /// Brings a point between two places back to where points may be.
    fn retract(&self, _: &mut [f64]) {}

    /// Length against which steps are short.
    fn scale(&self) -> f64;
}

/// Climbs from `z` to a local maximum of |g|; the place and g there.
pub(super) fn climb(surface: &impl Surface, mut z: Vec<f64>) -> (Vec<f64>, f64) {
    let (mut height, mut target) = surface.look(&z);
    for _ in 0..MAX_STEPS {
        let floor = height.abs() * (1.0 - SLACK);
        let mut higher = None;
        for halving in 0..HALVINGS {
            let share = 0.5f64.powi(halving as i32);
            let mut next: Vec<f64> =
                z.iter().zip(&target).map(|(from, to)| from + share * (to - from)).collect();
            surface.retract(&mut next);
            let (reached, onward) = surface.look(&next);
            if reached.abs() >= floor {
                higher = Some((next, reached, onward));
                break;
            }
        }
        let Some((next, reached, onward)) = higher else { break };
        let moved = z.iter().zip(&next).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        (z, height, target) = (next, reached, onward);
        if moved <= ARRIVED * surface.scale() {
            break;
        }
    }
    (z, height)
}
