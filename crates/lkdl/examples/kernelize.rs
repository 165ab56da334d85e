//! A linear method that knows nothing of kernels, kernelized: it is written once and runs twice.
#![allow(non_snake_case, clippy::print_stdout)] // letters; output
use faer::{Mat, MatRef};
use lkdl::{classify::class_members, prelude::*};

/// Each class is a subspace, the span of its first singular vectors, so many; the nearest one wins.
struct NearestSubspace(usize);
struct Subspaces(Vec<Mat<f64>>);

impl Train<f64> for NearestSubspace {
    type Model = Subspaces;
    fn train_monitored(
        &self,
        X: MatRef<'_, f64>,
        labels: &[usize],
        _: &dyn Monitor, // there are no steps to report
    ) -> Result<Subspaces, LkdlError> {
        let span = |members: &Vec<usize>| {
            let own = Mat::from_fn(X.nrows(), members.len(), |t, i| X[(t, members[i])]);
            let svd = own.thin_svd().map_err(|_| LkdlError::NoConvergence { what: "SVD" })?;
            Ok(svd.U().subcols(0, self.0.min(svd.U().ncols())).to_owned())
        };
        class_members(labels, X.ncols())?.iter().map(span).collect::<Result<_, _>>().map(Subspaces)
    }
}

impl Classify<f64> for Subspaces {
    fn classify(&self, X: MatRef<'_, f64>) -> Result<Predictions, LkdlError> {
        let inside: Vec<Mat<f64>> = self.0.iter().map(|U| U.transpose() * X).collect();
        let outside = |l: usize, i| X.col(i).squared_norm_l2() - inside[l].col(i).squared_norm_l2();
        let scores = Mat::from_fn(self.0.len(), X.ncols(), outside);
        let nearer = |i: usize| move |a, l| if outside(l, i) < outside(a, i) { l } else { a };
        let labels = (0..X.ncols()).map(|i| (0..self.0.len()).fold(0, nearer(i))).collect();
        Ok(Predictions { labels, scores, margins: vec![0.0; X.ncols()], n_zero_samples: 0 })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let digits = lkdl_data::digits()?;
    let split = lkdl_data::stratified_split(&digits.labels, 0.5, 0)?;
    let (train, test) = (digits.subset(&split.train)?, digits.subset(&split.test)?);
    let classes = |labels: &[u32]| labels.iter().map(|&l| l as usize).collect::<Vec<_>>();
    let kernel = Kernel::Polynomial { degree: 4.0, offset: 0.0 }; // the paper's
    let nystroem = MapParams::Nystroem(NystroemParams { kernel, ..Default::default() });
    println!("missing pixels   linear   kernelized");
    for fraction in [0.0, 0.3, 0.5] {
        let mut seen = test.samples.clone();
        lkdl_data::Corruption::MissingPixels { fraction, value: 0.0 }.apply(&mut seen, 0)?;
        let accuracy = |map: MapParams| -> Result<f64, Box<dyn std::error::Error>> {
            let method = NearestSubspace(12); // the linear method's best on clean digits
            let params = LkdlParams { prepare: "l2".parse()?, map, method, memory: None };
            let model = params.fit(train.samples.as_ref(), &classes(&train.labels))?;
            Ok(100.0 * model.predict(seen.as_ref())?.accuracy(&classes(&test.labels))?)
        };
        let (linear, kernelized) = (accuracy(MapParams::None)?, accuracy(nystroem.clone())?);
        println!("{:12.0} % {linear:6.1} % {kernelized:10.1} %", 100.0 * fraction);
    }
    Ok(())
}
