//! The lasso by its path: LARS with drops (Efron et al. 2004; Osborne et al. 2000).
//!
//! As the penalty falls from ‖Dᵀx‖∞ to λ, the code moves on straight lines. Between two bends the
//! atoms in use, A, keep |α_j| equal to the falling penalty, with signs s:
//! ```math
//! G_{AA}w=s,\qquad \gamma_A\mathrel{+}=\delta w,\qquad \alpha\mathrel{-}=\delta G_{:A}w
//! ```
//! A bend is the smallest δ at which another atom reaches the penalty (it enters) or a coefficient
//! reaches zero (it leaves). At the end γ_A = G_AA⁻¹(α0_A − λs) is solved afresh.
//!
//! Cost per bend: m|A| for G_{:A}w, |A|² for the Cholesky factor's update, downdate and solves.

use super::gap::{Problem, State, max_abs};
use super::{Stopping, coordinate};
use crate::matrix::col;
use crate::real::Real;
use crate::vector::axpy;

/// Events this close, as a share of the first penalty, are one event; and an atom whose |α_j|
/// approaches the penalty more slowly than this never meets it.
const TIE: f64 = 1e-12;

/// Follows the path down to λ, given the empty code in `state`.
///
/// Nearly dependent atoms can cost the path its digits. The code is then finished by coordinate
/// descent: the minimum does not depend on how it is reached.
pub(crate) fn solve(problem: &Problem<'_>, stopping: Stopping, state: &mut State) {
    Path::new(problem, state).follow(stopping.max_iters);
    if problem.relative_gap(state) > stopping.tolerance {
        coordinate::solve(problem, stopping, state);
    }
}

/// A point on the path.
struct Path<'a> {
    problem: &'a Problem<'a>,
    state: &'a mut State,
    /// The penalty, |α_j| of every active atom.
    penalty: f64,
    /// A, in order of entry, and the signs of its correlations.
    active: Vec<usize>,
    signs: Vec<f64>,
    /// LLᵀ = G_AA.
    factor: Factor,
    /// Atoms that may not enter now: active, or dependent on A.
    barred: Vec<bool>,
    /// Atoms dropped at the last bend, with their signs: the same sign may not return at once. In
    /// exact arithmetic it could not; by rounding the path would stand still.
    just_dropped: Vec<(usize, f64)>,
}

/// What bends the path.
enum Bend {
    /// The penalty is λ.
    End,
    /// These places in A reach zero.
    Leave(Vec<usize>),
    /// These atoms reach the penalty, with these signs.
    Enter(Vec<(usize, f64)>),
}

impl<'a> Path<'a> {
    fn new(problem: &'a Problem<'a>, state: &'a mut State) -> Self {
        let penalty = max_abs(problem.alpha0);
        let barred = vec![false; problem.alpha0.len()];
        let mut path = Self {
            problem,
            state,
            penalty,
            active: Vec::new(),
            signs: Vec::new(),
            factor: Factor::default(),
            barred,
            just_dropped: Vec::new(),
        };
        for j in 0..problem.alpha0.len() {
            if problem.alpha0[j].abs() >= penalty * (1.0 - TIE) {
                path.enter(j, problem.alpha0[j].signum());
            }
        }
        path
    }

    fn follow(&mut self, max_bends: usize) {
        let tie = TIE * self.penalty;
        let mut speeds = vec![0.0; self.problem.alpha0.len()];
        for _ in 0..max_bends {
            let w = self.factor.solve(&self.signs);
            speeds.fill(0.0);
            for (&j, &value) in self.active.iter().zip(&w) {
                axpy(&mut speeds, value, col(self.problem.G, j));
            }
            let end = self.penalty - self.problem.lambda;
            let (leave, enter) = (self.first_leave(&w), self.first_enter(&speeds));
            let delta = end.min(leave).min(enter);
            let bend = if delta == end {
                Bend::End
            } else if delta == leave {
                Bend::Leave(self.leaving(&w, delta + tie))
            } else {
                Bend::Enter(self.entering(&speeds, delta + tie))
            };
            for (&j, &value) in self.active.iter().zip(&w) {
                self.state.gamma[j] += delta * value;
            }
            axpy(&mut self.state.alpha, -delta, &speeds);
            self.penalty -= delta;
            self.just_dropped.clear();
            match bend {
                Bend::End => return self.finish(),
                Bend::Leave(places) => places.into_iter().rev().for_each(|t| self.leave(t)),
                Bend::Enter(atoms) => atoms.into_iter().for_each(|(j, sign)| self.enter(j, sign)),
            }
        }
        // Cut short: leave a consistent state.
        self.problem.correlations_into(&self.state.gamma, &mut self.state.alpha);
    }

    /// δ at which the coefficient of active atom t reaches zero; never for one that grows.
    fn leave_at(&self, t: usize, w: f64) -> f64 {
        let sign = self.signs[t];
        if w * sign >= 0.0 {
            return f64::INFINITY;
        }
        (self.state.gamma[self.active[t]] * sign).max(0.0) / w.abs()
    }

    fn first_leave(&self, w: &[f64]) -> f64 {
        let steps = w.iter().enumerate().map(|(t, &w)| self.leave_at(t, w));
        steps.fold(f64::INFINITY, f64::min)
    }

    fn leaving(&self, w: &[f64], until: f64) -> Vec<usize> {
        (0..w.len()).filter(|&t| self.leave_at(t, w[t]) <= until).collect()
    }

    /// δ at which |α_j| meets the penalty, and the sign of α_j there.
    #[inline]
    fn enter_at(&self, j: usize, speed: f64) -> (f64, f64) {
        let alpha = self.state.alpha[j];
        let meet = |sign: f64| {
            let closing = 1.0 - sign * speed;
            let distance = (self.penalty - sign * alpha).max(0.0);
            let possible = closing > TIE && !self.just_dropped.contains(&(j, sign));
            if possible { distance / closing } else { f64::INFINITY }
        };
        let (above, below) = (meet(1.0), meet(-1.0));
        if above <= below { (above, 1.0) } else { (below, -1.0) }
    }

    fn first_enter(&self, speeds: &[f64]) -> f64 {
        let free = (0..speeds.len()).filter(|&j| !self.barred[j]);
        free.map(|j| self.enter_at(j, speeds[j]).0).fold(f64::INFINITY, f64::min)
    }

    /// All that meet the penalty together, by ascending index.
    fn entering(&self, speeds: &[f64], until: f64) -> Vec<(usize, f64)> {
        let free = (0..speeds.len()).filter(|&j| !self.barred[j]);
        let meetings = free.map(|j| (j, self.enter_at(j, speeds[j])));
        meetings.filter(|(_, (at, _))| *at <= until).map(|(j, (_, sign))| (j, sign)).collect()
    }

    /// Adds atom j, unless it depends on A: then it is barred until an atom leaves.
    fn enter(&mut self, j: usize, sign: f64) {
        let column = col(self.problem.G, j);
        let cross: Vec<f64> = self.active.iter().map(|&i| column[i]).collect();
        if self.factor.push(cross, column[j]) {
            self.active.push(j);
            self.signs.push(sign);
        }
        self.barred[j] = true;
    }

    /// Drops the t-th active atom, and lets atoms enter again that depended on it.
    fn leave(&mut self, t: usize) {
        let (j, sign) = (self.active.remove(t), self.signs.remove(t));
        self.factor.remove(t);
        self.state.gamma[j] = 0.0;
        self.just_dropped.push((j, sign));
        self.barred.fill(false);
        for &j in &self.active {
            self.barred[j] = true;
        }
    }

    /// γ_A = G_AA⁻¹(α0_A − λs): what the bends gathered in rounding is gone.
    fn finish(&mut self) {
        let Problem { alpha0, lambda, .. } = *self.problem;
        let right: Vec<f64> =
            self.active.iter().zip(&self.signs).map(|(&j, s)| alpha0[j] - lambda * s).collect();
        let gamma = self.factor.solve(&right);
        for ((&j, &value), &sign) in self.active.iter().zip(&gamma).zip(&self.signs) {
            // An atom that enters or leaves exactly at λ is zero up to rounding.
            self.state.gamma[j] = if value * sign > 0.0 { value } else { 0.0 };
        }
        self.problem.correlations_into(&self.state.gamma, &mut self.state.alpha);
    }
}

/// A Cholesky factor that gains and loses rows.
#[derive(Debug, Default)]
struct Factor {
    /// Row t of L holds t + 1 values.
    rows: Vec<Vec<f64>>,
}

impl Factor {
    /// L⁻¹b.
    fn forward(&self, mut b: Vec<f64>) -> Vec<f64> {
        for t in 0..self.rows.len() {
            let row = &self.rows[t];
            let known: f64 = row[..t].iter().zip(&b).map(|(l, v)| l * v).sum();
            b[t] = (b[t] - known) / row[t];
        }
        b
    }

    /// (LLᵀ)⁻¹b.
    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b.to_vec());
        for t in (0..self.rows.len()).rev() {
            let row = &self.rows[t];
            x[t] /= row[t];
            for i in 0..t {
                x[i] -= row[i] * x[t];
            }
        }
        x
    }

    /// Appends an atom with inner products `cross` and squared norm `diagonal`; refuses one that
    /// depends on the others.
    fn push(&mut self, cross: Vec<f64>, diagonal: f64) -> bool {
        let mut row = self.forward(cross);
        let sq_pivot = diagonal - row.iter().map(|l| l * l).sum::<f64>();
        // Written so that NaN is refused too.
        let independent = sq_pivot > f64::DEPENDENT_PIVOT * diagonal;
        if independent {
            row.push(sq_pivot.sqrt());
            self.rows.push(row);
        }
        independent
    }

    /// Removes row t; rotations of neighbouring columns make the rest triangular again.
    fn remove(&mut self, t: usize) {
        self.rows.remove(t);
        for c in t..self.rows.len() {
            let (a, b) = (self.rows[c][c], self.rows[c][c + 1]);
            let length = a.hypot(b);
            let (cos, sin) = (a / length, b / length);
            self.rows[c].truncate(c);
            self.rows[c].push(length);
            for row in &mut self.rows[c + 1..] {
                (row[c], row[c + 1]) =
                    (cos * row[c] + sin * row[c + 1], cos * row[c + 1] - sin * row[c]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Cholesky, gram};
    use crate::matrix::columns_of;
    use crate::testing::{close, random_matrix, random_unit_columns};
    use faer::Mat;

    fn dense(factor: &Factor) -> Mat<f64> {
        let n = factor.rows.len();
        Mat::from_fn(n, n, |i, j| if j <= i { factor.rows[i][j] } else { 0.0 })
    }

    #[test]
    fn factor_follows_entries_and_exits() {
        let G = gram(random_matrix::<f64>(12, 8, 1).as_ref());
        let (mut factor, mut kept) = (Factor::default(), Vec::new());
        let check = |factor: &Factor, kept: &[usize]| {
            let part = Mat::from_fn(kept.len(), kept.len(), |i, j| G[(kept[i], kept[j])]);
            let fresh = Cholesky::new(part.as_ref()).unwrap();
            close(dense(factor).as_ref(), fresh.lower.as_ref(), 1e-12);
            let b: Vec<f64> = (0..kept.len()).map(|i| i as f64 - 1.5).collect();
            let x = factor.solve(&b);
            let back = part * Mat::from_fn(x.len(), 1, |i, _| x[i]);
            close(back.as_ref(), Mat::from_fn(b.len(), 1, |i, _| b[i]).as_ref(), 1e-10);
        };
        for j in [5, 2, 7, 0, 3, 1] {
            assert!(factor.push(kept.iter().map(|&i| G[(i, j)]).collect(), G[(j, j)]));
            kept.push(j);
            check(&factor, &kept);
        }
        for t in [2, 4, 0, 2] {
            factor.remove(t);
            kept.remove(t);
            check(&factor, &kept);
        }
        let again = kept.iter().map(|&i| G[(i, kept[0])]).collect();
        assert!(!factor.push(again, G[(kept[0], kept[0])]), "a copy depends on the original");
    }

    #[test]
    fn path_stays_on_the_minimum_of_every_penalty() {
        // Without the polish of coordinate descent. Copies, negatives and midpoints of atoms keep
        // ties alive all along the path; coefficients leave and return with the other sign.
        let base = random_unit_columns::<f64>(6, 6, 1);
        let tied = Mat::from_fn(6, 24, |i, j| match j / 6 {
            0 | 1 => base[(i, j % 6)],
            2 => -base[(i, j % 6)],
            _ => 0.5 * (base[(i, j % 6)] + base[(i, (j + 1) % 6)]),
        });
        for D in [random_unit_columns::<f64>(12, 40, 1), random_matrix(30, 20, 3), tied] {
            let X = random_matrix::<f64>(D.nrows(), 60, 2);
            let (G, alpha0) = (gram(D.as_ref()), D.transpose() * &X);
            let (mut state, mut shorter) = (State::default(), 0);
            for i in 0..60 {
                let (alpha0, rho0) = (alpha0.col_as_slice(i), X.col(i).squared_norm_l2());
                let mut longest = 0;
                for share in [0.8, 0.3, 0.1, 0.03, 0.003] {
                    let lambda = share * max_abs(alpha0);
                    let problem = Problem { G: columns_of(&G), alpha0, rho0, lambda };
                    state.start(&problem);
                    Path::new(&problem, &mut state).follow(1000);
                    assert!(problem.relative_gap(&state) < 1e-13, "signal {i}, share {share}");
                    let n = state.gamma.iter().filter(|v| **v != 0.0).count();
                    shorter += usize::from(n < longest);
                    longest = longest.max(n);
                }
            }
            assert!(shorter > 0, "no atom ever left for good");
        }
    }
}
