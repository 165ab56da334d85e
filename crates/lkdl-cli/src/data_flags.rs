//! The flags with which any command names data: what it is, and what a file cannot say of itself.

use crate::context::{Context, quoted};
use crate::failure::Failure;
use crate::precision::in_its_precision;
use clap::Args;
use lkdl_data::{
    DataArgument, DataError, Format, Header, IndexBase, Layout, Matched, ReadOptions, Table,
};
use lkdl_model::{AnyModel, DataRecord};

/// What every command that takes data explains about it.
pub const DATA_HELP: &str = "\
DATA is digits (built in), a named set (usps, usps-esl, mnist, yaleb: all of it, or NAME:train,
NAME:test; ar) or a path: .npy, .npz, .csv, .tsv, .svm (LIBSVM), .mat, .h5, .idx, .parquet, text
ones also with .gz, .bz2 or .zst, or a folder with one sub-folder of images per class. Text may be
separated by commas, semicolons, tabs or blanks; lines that start with # are comments.";

/// One data argument with the flags that say how to read it; flatten it into a command's flags.
#[derive(Debug, Clone, Args)]
pub struct DataFlags {
    /// A set or a file, see below
    #[arg(value_name = "DATA")]
    pub data: DataArgument,
    /// How to read it.
    #[command(flatten)]
    pub read: ReadFlags,
}

/// What a file cannot say of itself.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading files")]
pub struct ReadFlags {
    /// Labels: a column (name or number from 0), a variable, or a file of labels (text, .npy, .npz
    /// or .idx)
    #[arg(long, value_name = "NAME", conflicts_with = "unlabelled")]
    pub label: Option<String>,
    /// The variable that holds the samples (.npz, .mat, .h5)
    #[arg(long, value_name = "NAME")]
    pub samples: Option<String>,
    /// One sample per row or per column (.npy, .npz, .mat, .h5): auto, rows or columns
    #[arg(long, value_name = "LAYOUT", default_value_t)]
    pub layout: Layout,
    /// There are no labels: every column is a feature
    #[arg(long)]
    pub unlabelled: bool,
    /// Whether the first line of text names the columns (.csv, .tsv): auto, yes or no
    #[arg(long, value_name = "HEADER", default_value_t)]
    pub header: Header,
    /// Number of features, where LIBSVM text leaves out trailing zeros
    #[arg(long, value_name = "P")]
    pub n_features: Option<usize>,
    /// What indices of LIBSVM text count from: 0, 1, or auto: as in the model's training data, else
    /// 0 where index 0 occurs
    #[arg(long, value_name = "BASE", default_value_t)]
    pub index_base: IndexBase,
    /// The format, where name and content do not tell
    #[arg(long, value_name = "FORMAT")]
    pub format_in: Option<Format>,
}

impl ReadFlags {
    /// What the readers take.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format_in,
            label: self.label.clone(),
            samples: self.samples.clone(),
            layout: self.layout,
            unlabelled: self.unlabelled,
            header: self.header,
            n_features: self.n_features,
            index_base: self.index_base,
        }
    }

    /// The flags that were given, as words to give them again, each after a blank.
    pub fn again(&self) -> String {
        let given = |value: String, usual: String| Some(value).filter(|value| *value != usual);
        let values = [
            ("label", self.label.clone()),
            ("samples", self.samples.clone()),
            ("layout", given(self.layout.to_string(), Layout::default().to_string())),
            ("header", given(self.header.to_string(), Header::default().to_string())),
            ("n-features", self.n_features.map(|count| count.to_string())),
            ("index-base", given(self.index_base.to_string(), IndexBase::default().to_string())),
            ("format-in", self.format_in.map(|format| format.to_string())),
        ];
        let mut words = String::from(if self.unlabelled { " --unlabelled" } else { "" });
        for (flag, value) in values {
            if let Some(value) = value {
                words += &format!(" --{flag} {}", quoted(&value));
            }
        }
        words
    }

    /// The same for samples that are held against a model of `training`: LIBSVM text counts as it
    /// did there, or says so.
    fn options_for(
        &self,
        data: &DataArgument,
        training: &DataRecord,
    ) -> Result<ReadOptions, Failure> {
        let options = self.options();
        let index_base = match training.index_base {
            Some(0) => IndexBase::Zero,
            Some(1) => IndexBase::One,
            _ => return Ok(options),
        };
        if data.format(&options)? != Some(Format::Svmlight) {
            return Ok(options);
        }
        if ![IndexBase::Auto, index_base].contains(&self.index_base) {
            return Err(Failure::usage(format!(
                "--index-base is {}, but the model was trained on indices from {index_base}; \
                 convert the data first: lkdl data convert {data} data.npz --index-base {}",
                self.index_base, self.index_base
            )));
        }
        Ok(ReadOptions { index_base, ..options })
    }
}

impl DataFlags {
    /// Reads the data, with labels if it has them; `into_dataset` asks for them.
    pub fn table(&self, context: &Context) -> Result<Table, Failure> {
        Ok(self.load(&self.read.options(), context)?)
    }

    fn load(&self, options: &ReadOptions, context: &Context) -> Result<Table, DataError> {
        self.data.load(context.data_dir.as_deref(), options)
    }

    /// Reads the data with the features that `model` has learned from.
    pub fn table_for(&self, model: &AnyModel, context: &Context) -> Result<Table, Failure> {
        let (n_features, training) = in_its_precision!(model, model => {
            (model.pipeline.preparation().n_features(), &model.card.data)
        });
        let table = self.load(&self.read.options_for(&self.data, training)?, context)?;
        let (table, matched) = table.align(n_features, training.feature_names.as_deref())?;
        let unnamed = match matched {
            Matched::ByName | Matched::ByPlace => return Ok(table),
            Matched::TableUnnamed => format!("{} has no names for them", self.data),
            Matched::ModelUnnamed => "the model knows no names for them".into(),
        };
        context.note(format!("note: features are matched by position: {unnamed}"));
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    #[test]
    fn flags_are_given_again_as_they_were() {
        for words in [
            "",
            "--label kind --header no",
            "--label 'two words' --samples X --layout rows",
            "--unlabelled --n-features 9 --index-base 0 --format-in svmlight",
        ] {
            let command = ReadFlags::augment_args(Command::new("x").no_binary_name(true));
            let list = words.replace("two words", "two_words").replace('\'', "");
            let list = list.split_whitespace().map(|word| word.replace('_', " "));
            let matches = command.try_get_matches_from(list).unwrap();
            let flags = ReadFlags::from_arg_matches(&matches).unwrap();
            assert_eq!(flags.again().trim_start(), words);
        }
    }
}
