//! All experiments on a few embedded digits, and the plan of the paper's own sizes.
#![allow(clippy::unwrap_used)] // helpers of tests unwrap too

use lkdl_data::{NamedSet, TrainTest, digits, stratified_split};
use lkdl_experiments::{
    EXPERIMENTS, Experiment, Job, Quantity, Scale, Sets, Setting, Sizes, gather,
};
use std::collections::HashSet;

/// A few of the embedded digits in place of every named set.
fn tiny_sets() -> Sets {
    let all = digits().unwrap();
    let part = |share, seed| {
        let split = stratified_split(&all.labels, share, seed).unwrap();
        all.subset(&split.test).unwrap()
    };
    let sets = Sets::default();
    for set in NamedSet::ALL {
        sets.insert(set, TrainTest { train: part(0.17, 1), test: part(0.05, 2) });
    }
    sets
}

/// Two points per axis, and nothing large.
fn tiny_scale() -> Scale {
    let sizes = Sizes { runs: 1, train: 300, test: 80, classes: 10, atoms: 12, rank: 16 };
    Scale { name: "tiny", few_points: true, usps: sizes, mnist: sizes, faces: sizes, memory: None }
}

fn jobs(experiment: &Experiment, scale: &Scale) -> Vec<Job> {
    (experiment.jobs)(scale)
}

#[test]
fn every_experiment_gives_a_finite_number_at_every_place() {
    let (sets, scale) = (tiny_sets(), tiny_scale());
    for experiment in EXPERIMENTS {
        for job in jobs(experiment, &scale) {
            let run = job.run(&sets, 0, "1").unwrap_or_else(|error| panic!("{job:?}: {error}"));
            assert_eq!(run.values.len(), job.places.len(), "{job:?}");
            assert!(job.is_done_by(&run, 0, "1"), "{job:?}");
            let records = gather(std::slice::from_ref(&run));
            assert_eq!(records.len(), job.places.len(), "{job:?}");
            for record in records {
                assert!(record.mean.is_finite() && record.std == 0.0, "{record:?}");
                assert_eq!(record.experiment, experiment.id);
                let is_share = matches!(record.quantity, Quantity::Accuracy | Quantity::CodeShare);
                assert!(!is_share || (0.0..=100.0).contains(&record.mean), "{record:?}");
                // sizes are not the paper's: no verdict
                assert_eq!(record.within_tolerance, None, "{record:?}");
            }
        }
    }
}

#[test]
fn one_seed_gives_one_number() {
    let (sets, scale) = (tiny_sets(), tiny_scale());
    let job = &jobs(Experiment::find("2a").unwrap(), &scale)[3];
    let values = |seed| {
        let run = job.run(&sets, seed, "1").unwrap();
        run.values.iter().map(|value| value.value).collect::<Vec<_>>()
    };
    assert_eq!(values(0), values(0));
    assert_ne!(values(0), values(1), "seeds must matter");
}

#[test]
fn what_needs_more_memory_than_allowed_is_skipped() {
    let (sets, scale) = (tiny_sets(), Scale { memory: Some(1000), ..tiny_scale() });
    let job = &jobs(Experiment::find("3").unwrap(), &scale)[1];
    let run = job.run(&sets, 0, "1").unwrap();
    assert!(run.values.is_empty() && run.skipped.unwrap().contains("MB"));
}

#[test]
fn every_published_number_is_measured() {
    let scale = Scale::full();
    let mut measured = HashSet::new();
    for job in EXPERIMENTS.iter().flat_map(|experiment| jobs(experiment, &scale)) {
        for place in &job.places {
            let x = place.x.map(|x| x.to_string()).unwrap_or_default();
            let Setting { experiment, method, .. } = &job.setting;
            measured.insert(format!("{experiment},{},{method},{x}", place.quantity.name()));
        }
    }
    for line in include_str!("../src/published.csv").lines().skip(1) {
        let place = line.rsplit_once(',').unwrap().0;
        assert!(measured.contains(place), "{place} was published, but is not measured");
    }
}

#[test]
fn no_two_jobs_could_be_mistaken_for_each_other() {
    for scale in [Scale::quick(), Scale::standard(), Scale::full()] {
        let mut settings = HashSet::new();
        for job in EXPERIMENTS.iter().flat_map(|experiment| jobs(experiment, &scale)) {
            let x: Vec<_> = job.places.iter().map(|place| place.x.map(f64::to_bits)).collect();
            let setting = (serde_json::to_string(&job.setting).unwrap(), x);
            assert!(settings.insert(setting), "{job:?} is there twice");
            assert!(job.runs > 0 && job.estimate > 0.0 && job.estimate.is_finite(), "{job:?}");
        }
    }
}

#[test]
fn ids_are_unique_and_full_scale_is_the_paper_s() {
    let ids: HashSet<&str> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
    assert_eq!(ids.len(), EXPERIMENTS.len());
    let scale = Scale::full();
    let reduced = |job: &Job| job.reduced;
    assert!(
        !EXPERIMENTS.iter().flat_map(|experiment| jobs(experiment, &scale)).any(|j| reduced(&j))
    );
    assert!(scale.usps.runs >= 10 && scale.mnist.runs >= 3 && scale.faces.runs >= 10);
}
