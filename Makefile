.PHONY: help test test-browser lint doc bench fuzz

FUZZ_SECONDS ?= 60
FUZZ_SEEDS := fuzz/seeds crates/lkdl-data/tests/fixtures
EXAMPLES := quickstart kernelize custom_kernel
TARGET := $(or $(CARGO_TARGET_DIR),target)

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

test: ## all tests: units, invariants, real data (LKDL_DATA_DIR), documentation, examples, files
	cargo test --workspace --tests --benches
	cargo test --workspace --doc
	@# of the whole workspace, like the tests: one package alone has other features, and is built anew
	cargo build --profile test --workspace $(addprefix --example ,$(EXAMPLES)) --bin lkdl
	@set -e; for example in $(EXAMPLES); do \
		echo "== $$example"; $(TARGET)/debug/examples/$$example; \
	done
	@test -d $(TARGET)/venv || python3 -m venv $(TARGET)/venv
	@$(TARGET)/venv/bin/pip install --quiet --disable-pip-version-check -r tests/python/requirements.txt
	$(TARGET)/venv/bin/python tests/python/files.py $(TARGET)/debug/lkdl

test-browser: ## a demonstration's page in headless Chromium; screenshots in target/browser
	tests/browser/run

lint: ## formatting, clippy and documentation, warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

doc: ## the library's documentation with typeset equations, in target/doc
	RUSTDOCFLAGS="-D warnings --html-in-header $(CURDIR)/crates/lkdl/katex-header.html" \
		cargo doc --workspace --no-deps

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
