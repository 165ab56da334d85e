.PHONY: help test test-python test-package test-browser lint doc docs-python wheel bench bench-peers \
	bench-scale extension fuzz

FUZZ_SECONDS ?= 60
FUZZ_SEEDS := fuzz/seeds crates/lkdl-data/tests/fixtures
EXAMPLES := quickstart kernelize custom_kernel
TARGET := $(or $(CARGO_TARGET_DIR),target)
# Where Python tests, the guide and the races find their packages, each as it needs them
VENV := $(TARGET)/venv
DOCS_VENV := $(TARGET)/venv-docs
BENCH_VENV := $(TARGET)/venv-bench
PIP := bin/pip install --quiet --disable-pip-version-check

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

test: ## all tests: units, invariants, real data (LKDL_DATA_DIR), documentation, examples, files
	cargo test --workspace --tests --benches
	cargo test --workspace --doc
	@# of the whole workspace, like the tests: one package alone has other features, and is built anew
	cargo build --profile test --workspace --lib $(addprefix --example ,$(EXAMPLES)) --bin lkdl
	@set -e; for example in $(EXAMPLES); do \
		echo "== $$example"; $(TARGET)/debug/examples/$$example; \
	done
	$(MAKE) test-python
	$(VENV)/bin/python tests/python/files.py $(TARGET)/debug/lkdl

test-python: extension ## the Python package: its tests, the examples of its documentation, its results
	@test -d $(VENV) || python3 -m venv $(VENV)
	@$(VENV)/$(PIP) -r tests/python/requirements.txt
	PYTHONPATH=$(abspath python) LKDL_COMMAND=$(abspath $(TARGET))/debug/lkdl \
		$(VENV)/bin/python -m pytest --quiet

# of the whole workspace and with the profile of the tests: after `cargo test`, little is left to build
extension:
	cargo build --profile test --workspace --lib --bin lkdl
	cp $(TARGET)/debug/liblkdl_core.so python/lkdl/_core.abi3.so

wheel: ## a wheel and a source distribution of the Python package, in target/wheels
	@test -d $(VENV) || python3 -m venv $(VENV)
	@$(VENV)/$(PIP) 'maturin>=1.9.4,<2'
	rm -f $(TARGET)/wheels/lkdl-*
	$(VENV)/bin/maturin build --release --out $(TARGET)/wheels
	$(VENV)/bin/maturin sdist --out $(TARGET)/wheels

test-package: wheel ## wheel and source distribution install into empty environments, and work there
	tests/python/package $(TARGET)

test-browser: ## a demonstration's page in headless Chromium; screenshots in target/browser
	tests/browser/run

lint: ## formatting, clippy and documentation, warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

doc: ## the library's documentation with typeset equations, in target/doc
	RUSTDOCFLAGS="-D warnings --html-in-header $(CURDIR)/crates/lkdl/katex-header.html" \
		cargo doc --workspace --no-deps

docs-python: extension ## the user guide of the Python package, its examples run, in target/docs-python
	@test -d $(DOCS_VENV) || python3 -m venv $(DOCS_VENV)
	@$(DOCS_VENV)/$(PIP) -r docs/python/requirements.txt
	PATH="$(abspath $(TARGET))/debug:$$PATH" PYTHONPATH=python \
		$(DOCS_VENV)/bin/sphinx-build -W --keep-going -q docs/python $(TARGET)/docs-python
	@echo "open $(TARGET)/docs-python/index.html"

bench-peers: wheel ## races against SPAMS, scikit-learn and dictlearn; results/<date>-<machine>
	@test -d $(BENCH_VENV) || python3 -m venv $(BENCH_VENV)
	@$(BENCH_VENV)/$(PIP) -r bench/requirements.txt
	@$(BENCH_VENV)/$(PIP) --force-reinstall --no-deps $(TARGET)/wheels/lkdl-*.whl
	$(BENCH_VENV)/bin/python bench/run.py

bench-scale: wheel ## fits from blocks against N, and on 1, 2 and 4 Dask workers; fills docs/scale.md
	@test -d $(BENCH_VENV) || python3 -m venv $(BENCH_VENV)
	@$(BENCH_VENV)/$(PIP) --force-reinstall --no-deps $(TARGET)/wheels/lkdl-*.whl
	@$(BENCH_VENV)/$(PIP) matplotlib scikit-learn 'dask[array,dataframe]>=2026.8' 'distributed>=2026.8'
	cargo build --release --workspace --bin lkdl
	$(BENCH_VENV)/bin/python bench/stream.py --lkdl $(TARGET)/release/lkdl --write
	$(BENCH_VENV)/bin/python bench/scale.py --write

bench: ## timed kernels (criterion) and the roofline table
	cargo bench -p lkdl
	cargo run --release -p lkdl --example roofline

fuzz: ## every reader on hostile files, FUZZ_SECONDS (60) each; needs cargo-fuzz, and installs it
	@cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked
	cargo fuzz build -s none
	@set -e; for target in $$(cargo fuzz list); do \
		echo "== $$target"; mkdir -p fuzz/corpus/$$target; \
		cargo fuzz run -s none $$target fuzz/corpus/$$target $(FUZZ_SEEDS) -- \
			-max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=20000 \
			-print_final_stats=1; \
	done
