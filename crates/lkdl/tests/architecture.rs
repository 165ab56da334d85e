//! The rules of docs/design.md, proved by reading the sources: who may import whom, what the
//! library may not do, and that docs/equations.md points at what exists.
#![allow(clippy::unwrap_used)] // what is missing here is a failure

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What a part of the library may import beside itself. `testing` is for tests.
const IMPORTS: [(&str, &[&str]); 23] = [
    ("error", &[]),
    ("blocks", &["error", "real"]),
    ("state", &["error", "real"]),
    ("random", &[]),
    // the trait of custom kernels, to call it in either precision
    ("real", &["error", "kernel"]),
    ("vector", &["real"]),
    ("matrix", &["error", "real", "vector"]),
    ("testing", &["random", "real", "vector"]),
    ("linalg", &["error", "random", "real", "testing", "vector"]),
    ("distinct", &["matrix", "real", "testing"]),
    // k-means, which landmarks and starting atoms share
    ("lloyd", &["error", "linalg", "matrix", "real", "testing", "vector"]),
    ("prepare", &["blocks", "error", "matrix", "real", "testing", "vector"]),
    ("kernel", &["error", "linalg", "matrix", "random", "real", "testing", "vector"]),
    (
        "sampling",
        &[
            "blocks", "distinct", "error", "kernel", "linalg", "lloyd", "matrix", "random", "real",
            "testing", "vector",
        ],
    ),
    (
        "map",
        &[
            "blocks", "error", "kernel", "linalg", "matrix", "memory", "random", "real",
            "sampling", "testing", "vector",
        ],
    ),
    ("pursuit", &["error", "linalg", "matrix", "random", "real", "testing", "vector"]),
    (
        "dictionary",
        &[
            "blocks", "distinct", "error", "linalg", "lloyd", "matrix", "monitor", "pursuit",
            "random", "real", "state", "testing", "vector",
        ],
    ),
    (
        "classify",
        &[
            "dictionary",
            "error",
            "linalg",
            "matrix",
            "monitor",
            "pursuit",
            "real",
            "testing",
            "vector",
        ],
    ),
    (
        // the Gram-matrix methods of `dictionary` and `classify` meet a kernel here
        "exact",
        &[
            "classify",
            "dictionary",
            "error",
            "kernel",
            "linalg",
            "matrix",
            "monitor",
            "pursuit",
            "real",
            "testing",
            "vector",
        ],
    ),
    ("monitor", &["error"]),
    ("memory", &["error", "prelude", "testing"]),
    (
        "pipeline",
        &[
            "classify", "error", "kernel", "map", "matrix", "memory", "monitor", "prelude",
            "prepare", "real", "testing",
        ],
    ),
    (
        "stream",
        &[
            "blocks",
            "classify",
            "dictionary",
            "error",
            "kernel",
            "map",
            "matrix",
            "memory",
            "monitor",
            "pipeline",
            "prelude",
            "prepare",
            "random",
            "real",
            "sampling",
            "state",
            "testing",
        ],
    ),
];

/// The linear methods, which must not be able to tell that samples are virtual.
const LINEAR: [&str; 3] = ["pursuit", "dictionary", "classify"];
const KERNEL_SIDE: [&str; 5] = ["kernel", "sampling", "map", "exact", "pipeline"];

/// Printing, files, clock, environment, process, global state and unseeded randomness.
const FORBIDDEN: [&str; 19] = [
    "println!",
    "print!(",
    "eprint",
    "dbg!",
    "std::fs",
    "std::io",
    "std::net",
    "std::env",
    "std::process",
    "std::time",
    "Instant",
    "SystemTime",
    "thread_rng",
    "rand::rng",
    "from_os_rng",
    "static mut",
    "OnceLock",
    "LazyLock",
    "unsafe ",
];

/// faer in parallel, or in a form whose parallelism is faer's own choice.
const PARALLEL_FAER: [&str; 14] = [
    "Par::Rayon",
    "Par::rayon",
    "global_parallelism",
    "Par::default",
    ".self_adjoint_eigen(",
    ".self_adjoint_eigenvalues(",
    ".eigen(",
    "svd(",
    ".singular_values(",
    ".llt(",
    ".ldlt(",
    ".partial_piv_lu(",
    ".qr(",
    ".col_piv_qr(",
];

struct Source {
    /// Relative to `src`.
    path: PathBuf,
    text: String,
}

impl Source {
    /// The part of the library it belongs to: the first name of its path.
    fn part(&self) -> String {
        let first = self.path.components().next().unwrap();
        first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_string()
    }

    /// Without comments, and with line breaks kept.
    fn code(&self) -> String {
        let code = |line: &str| line.split("//").next().unwrap_or_default().to_string() + "\n";
        self.text.lines().map(code).collect()
    }

    /// [`Source::code`] without test modules, which end a file; nothing of a file that is one.
    fn library_code(&self) -> String {
        let name = self.path.file_stem().unwrap();
        let in_tests = self.path.components().any(|part| part.as_os_str() == "tests");
        if in_tests || name == "tests" || name == "testing" {
            return String::new();
        }
        let code = self.code();
        let starts_module = |(at, mark): &(usize, &str)| {
            let next = code[at + mark.len()..].lines().next().unwrap_or_default();
            next.contains("mod ") && next.trim_end().ends_with('{')
        };
        let end = code.match_indices("#[cfg(test)]\n").find(starts_module);
        end.map_or(code.clone(), |(at, _)| code[..at].to_string())
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> Vec<Source> {
    let found = sources_of("lkdl");
    assert!(found.len() > 40, "only {} sources found", found.len());
    found
}

fn sources_of(name: &str) -> Vec<Source> {
    let root = repository().join("crates").join(name).join("src");
    let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push(Source { path: path.strip_prefix(&root).unwrap().into(), text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The first name after every `crate::`, also of each member of `crate::{…}`.
fn imported(code: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = BTreeSet::new();
    for after in code.split("crate::").skip(1) {
        let Some(group) = after.strip_prefix('{') else {
            names.insert(word(after));
            continue;
        };
        let (mut depth, mut member) = (0, String::new());
        for c in group.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    names.insert(word(&member));
                    member.clear();
                    continue;
                }
                _ => {}
            }
            member.push(c);
        }
        names.insert(word(&member));
    }
    names.remove("");
    names
}

#[test]
fn grouped_and_nested_imports_are_seen() {
    let code =
        "use crate::{map::{a, b}, error::E};\nuse crate::kernel;\nlet x = crate::matrix::f();";
    assert!(imported(code).iter().eq(["error", "kernel", "map", "matrix"]));
}

#[test]
fn imports_point_one_way() {
    for source in sources() {
        let part = source.part();
        if part == "lib" {
            continue;
        }
        let Some((_, allowed)) = IMPORTS.iter().find(|(name, _)| *name == part) else {
            panic!("{part} has no place in the graph of docs/design.md and IMPORTS");
        };
        for name in imported(&source.code()) {
            let known = name == part || allowed.contains(&name.as_str());
            assert!(known, "{}: {part} may not import crate::{name}", source.path.display());
        }
    }
}

#[test]
fn linear_methods_know_nothing_of_kernels() {
    for (part, allowed) in IMPORTS.iter().filter(|(part, _)| LINEAR.contains(part)) {
        for name in KERNEL_SIDE {
            assert!(!allowed.contains(&name), "IMPORTS lets {part} import {name}");
        }
    }
    for source in sources().iter().filter(|source| LINEAR.contains(&source.part().as_str())) {
        let code = source.code();
        for name in KERNEL_SIDE {
            let import = format!("crate::{name}");
            assert!(!code.contains(&import), "{}: {import}", source.path.display());
        }
    }
}

#[test]
fn the_library_computes_and_does_nothing_else() {
    for source in sources() {
        let code = source.library_code();
        for word in FORBIDDEN {
            assert!(!code.contains(word), "{}: {word}", source.path.display());
        }
    }
}

#[test]
fn the_recipe_decides_and_does_nothing_else() {
    let sources = sources_of("lkdl-recipe");
    assert!(sources.len() > 8, "only {} sources found", sources.len());
    for source in sources {
        let code = source.library_code();
        for word in FORBIDDEN.into_iter().chain(["clap"]) {
            assert!(!code.contains(word), "{}: {word}", source.path.display());
        }
    }
}

#[test]
fn faer_runs_sequentially() {
    let mut calls = 0;
    for source in sources() {
        let code = source.library_code();
        for word in PARALLEL_FAER {
            assert!(!code.contains(word), "{}: {word}", source.path.display());
        }
        let sequential = code.matches("Par::Seq").count();
        assert_eq!(code.matches("Par::").count(), sequential, "{}", source.path.display());
        calls += sequential;
    }
    assert!(calls > 5, "no faer call found: has the rule lost its object?");
}

/// The products by operator of which one side is a matrix: by its name, one capital (`M`, `P0`), or
/// because a view of it is taken.
fn operator_products(code: &str) -> Vec<String> {
    const VIEWS: [&str; 2] = [".transpose()", ".as_ref()"];
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let is_letter = |name: &str| {
        let (letter, digits) = name.split_at(name.len().min(1));
        letter.chars().all(|c| c.is_ascii_uppercase()) && digits.chars().all(|c| c.is_ascii_digit())
    };
    let product = |(at, _): (usize, &str)| {
        let (before, after) = (&code[..at], &code[at + 3..]);
        let viewed = VIEWS.iter().find_map(|view| before.strip_suffix(view));
        let left = viewed.unwrap_or(before);
        let left = &left[left.rfind(|c| !is_name(c)).map_or(0, |i| i + 1)..];
        let after = after.trim_start_matches('&');
        let right = &after[..after.find(|c| !is_name(c)).unwrap_or(after.len())];
        let rest = &after[right.len()..];
        let view_follows = VIEWS.iter().any(|view| rest.starts_with(view));
        let by_left = viewed.is_some() || (!left.is_empty() && is_letter(left));
        let by_right = view_follows
            || (!right.is_empty() && is_letter(right) && !rest.starts_with(['.', '[', '(']));
        (by_left || by_right).then(|| format!("{left} * {right}"))
    };
    code.match_indices(" * ").filter_map(product).collect()
}

#[test]
fn products_by_operator_are_told_from_products_of_numbers() {
    let products = "f(&A * &B); (M * v).iter(); D.transpose() * x; a * P0.as_ref()";
    assert_eq!(operator_products(products), ["A * B", "M * v", "D * x", "a * P0"]);
    let numbers =
        "2.0 * X.ncols(); RIDGE * n; f(G) * g; v * T::of(x); W[(i, j)] * s; n * A[(j, j)]";
    assert_eq!(operator_products(numbers), [""; 0]);
}

#[test]
fn matrices_are_multiplied_by_linalg_alone() {
    // `&A * &B` runs in faer's global parallelism, and its bits depend on the thread count.
    for source in sources() {
        let path = source.path.to_str().unwrap();
        let products = operator_products(&source.library_code());
        assert!(products.is_empty(), "{path}: {products:?}; use linalg::product_into");
    }
}

/// Rows of the table of equations: the number and the rest.
fn rows(text: &str) -> Vec<(u32, String)> {
    let row = |line: &str| {
        let (number, rest) = line.strip_prefix("| (")?.split_once(')')?;
        Some((number.parse().ok()?, rest.to_string()))
    };
    text.lines().filter_map(row).collect()
}

/// Words in backticks, in order.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_equation_has_a_place_and_every_place_exists() {
    let text = fs::read_to_string(repository().join("docs/equations.md")).unwrap();
    let numbers: Vec<u32> = rows(&text).iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=30).collect::<Vec<_>>());
    for (number, row) in rows(&text) {
        let placed = row.contains("crates/") || row.contains("not yet");
        assert!(placed, "equation ({number}) has neither a place nor \"not yet\"");
    }
    let (mut file, mut checked) = (None, 0);
    for word in text.lines().flat_map(quoted) {
        if word.starts_with("crates/") {
            let content = fs::read_to_string(repository().join(word));
            file = Some((word, content.unwrap_or_else(|error| panic!("{word}: {error}"))));
            continue;
        }
        // A name belongs to the path before it: each part of it is defined there.
        let Some((path, content)) = &file else { continue };
        for name in word.split("::") {
            let defined = ["fn ", "struct ", "enum ", "trait ", "    "]
                .iter()
                .any(|keyword| defines(content, keyword, name));
            let used = content.contains(&format!("for {name}"));
            assert!(defined || used, "{path} does not define {name}");
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked} names checked");
}

/// Whether `keyword name` occurs, followed by something that ends a name.
fn defines(content: &str, keyword: &str, name: &str) -> bool {
    let wanted = format!("{keyword}{name}");
    content.split(wanted.as_str()).skip(1).any(|after| {
        after.chars().next().is_some_and(|next| !next.is_alphanumeric() && next != '_')
    })
}

/// The numbers that a file cites as `LKDL Eq. (1)`, `LKDL Eqs. (3), (4)` or `LKDL Eqs. (19)–(24)`.
fn cited(text: &str) -> BTreeSet<u32> {
    let mut numbers = BTreeSet::new();
    for after in text.split("LKDL Eq").skip(1) {
        let list: String = after
            .trim_start_matches('s')
            .trim_start_matches(". ")
            .chars()
            .take_while(|c| c.is_ascii_digit() || "(), –".contains(*c))
            .collect();
        assert!(list.starts_with('('), "no number after \"LKDL Eq\": {list}");
        for item in list.split(", ") {
            let ends: Vec<u32> = item
                .split('–')
                .filter_map(|end| end.trim_matches([' ', ',', '(', ')']).parse().ok())
                .collect();
            if let (Some(&first), Some(&last)) = (ends.first(), ends.last()) {
                numbers.extend(first..=last);
            }
        }
    }
    numbers
}

#[test]
fn lists_and_ranges_of_equations_are_read() {
    let text = "LKDL Eq. (2), min … LKDL Eqs. (3), (4); LKDL Eqs. (19)–(21).\nLKDL Eq. (30), by";
    assert!(cited(text).iter().eq(&[2, 3, 4, 19, 20, 21, 30]));
}

#[test]
fn equations_cited_in_a_file_are_listed_with_it() {
    let text = fs::read_to_string(repository().join("docs/equations.md")).unwrap();
    let rows = rows(&text);
    let mut citations = 0;
    for source in sources() {
        let path = format!("crates/lkdl/src/{}", source.path.display());
        for number in cited(&source.text) {
            let (_, row) = &rows[number as usize - 1];
            assert!(row.contains(&path), "{path} cites ({number}), docs/equations.md does not");
            citations += 1;
        }
    }
    assert!(citations > 15, "only {citations} citations found");
}
