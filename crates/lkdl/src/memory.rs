//! What a fit will need, said before it starts.
//!
//! Every matrix whose size grows with the data is counted, stage by stage, beside the samples the
//! caller holds already. The LKDL path never holds an N×N or dense m×N matrix; the one N×c matrix,
//! the factor of Cholesky pivoting, shrinks to a pilot sample when the budget asks for it.

use crate::error::LkdlError;

/// The need of one stage: everything alive at its peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageMemory {
    /// `prepare`, `landmarks`, `factor`, `map` or `learn`; of a fit from blocks also `survey`,
    /// `moments`, `draw`, `sums` and `grow`.
    pub stage: &'static str,
    /// Bytes beside the caller's samples.
    pub bytes: u64,
}

/// The need of a fit by stage, in the order the stages run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPlan {
    /// One entry per stage.
    pub stages: Vec<StageMemory>,
}

impl MemoryPlan {
    /// The stage that needs most.
    pub fn peak(&self) -> StageMemory {
        let largest = self.stages.iter().copied().max_by_key(|stage| stage.bytes);
        largest.unwrap_or(StageMemory { stage: "nothing", bytes: 0 })
    }

    /// An error that names the stage, its need and the budget, if the budget cannot be met.
    pub fn check(&self, budget: u64) -> Result<(), LkdlError> {
        let StageMemory { stage, bytes: need } = self.peak();
        if need <= budget { Ok(()) } else { Err(LkdlError::Memory { stage, need, budget }) }
    }
}

impl std::fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for StageMemory { stage, bytes } in &self.stages {
            writeln!(f, "{stage:<10} {:>10.1} MB", *bytes as f64 / 1e6)?;
        }
        write!(f, "{:<10} {:>10.1} MB", "peak", self.peak().bytes as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use crate::testing::random_matrix;

    fn pipeline(
        n_landmarks: LandmarkCount,
        memory: Option<u64>,
    ) -> LkdlParams<ClassDictionariesParams<KsvdParams<f64>>> {
        LkdlParams {
            prepare: PrepareParams::default(),
            map: MapParams::Nystroem(NystroemParams { n_landmarks, ..Default::default() }),
            method: ClassDictionariesParams {
                learner: KsvdParams { n_atoms: 5, sparsity: 2, ..Default::default() },
                sparsity: 2,
            },
            memory,
        }
    }

    #[test]
    fn the_plan_names_every_stage_and_its_peak_is_the_largest() {
        let plan =
            pipeline(LandmarkCount::Exact(100), None).memory_plan::<f64>(20, &[300, 500]).unwrap();
        let stages: Vec<_> = plan.stages.iter().map(|s| s.stage).collect();
        assert_eq!(stages, ["prepare", "landmarks", "factor", "map", "learn"]);
        assert_eq!(plan.stages[0].bytes, 20 * 800 * 8);
        // the N×c factor of the default sampler and the prepared samples
        assert!(plan.stages[1].bytes >= (800 * 100 + 20 * 800) * 8);
        assert!(plan.stages.iter().all(|s| s.bytes <= plan.peak().bytes));
        assert!(plan.to_string().contains("peak"));
    }

    #[test]
    fn a_budget_that_cannot_be_met_is_refused_with_stage_need_and_budget() {
        let X = random_matrix::<f64>(20, 400, 1);
        let labels: Vec<usize> = (0..400).map(|i| i % 2).collect();
        let params = pipeline(LandmarkCount::Exact(100), Some(70_000));
        let error = params.fit(X.as_ref(), &labels).unwrap_err();
        assert!(matches!(error, LkdlError::Memory { budget: 70_000, .. }), "{error}");
        let plan =
            pipeline(LandmarkCount::Exact(100), None).memory_plan::<f64>(20, &[200, 200]).unwrap();
        let params = pipeline(LandmarkCount::Exact(100), Some(plan.peak().bytes));
        assert!(params.fit(X.as_ref(), &labels).is_ok());
    }

    #[test]
    fn an_automatic_count_shrinks_to_the_budget_and_a_pilot_replaces_the_whole_factor() {
        let X = random_matrix::<f64>(6, 4000, 2);
        let labels: Vec<usize> = (0..4000).map(|i| i % 2).collect();
        let narrow = Kernel::Gaussian { sigma: 0.3 };
        let mut params = pipeline(LandmarkCount::Auto { trace_error: 0.01, max: 600 }, None);
        let MapParams::Nystroem(map) = &mut params.map else { unreachable!() };
        map.kernel = narrow;
        params.memory = Some(8_000_000);
        let model = params.fit(X.as_ref(), &labels).unwrap();
        let FeatureMap::Nystroem(map) = model.map() else { unreachable!() };
        assert!(map.n_landmarks() <= 300, "{}", map.n_landmarks());

        params.map = MapParams::Nystroem(NystroemParams {
            n_landmarks: LandmarkCount::Exact(100),
            rank: Rank::Exact(20),
            ..Default::default()
        });
        params.memory = Some(3_000_000); // the whole factor would need 3.2 MB beside the samples
        let model = params.fit(X.as_ref(), &labels).unwrap();
        let pilot = |w: &Warning| matches!(w, Warning::PilotSample { of: 4000, .. });
        assert!(model.warnings().iter().any(pilot));
    }
}
