.PHONY: help test lint bench

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

test: ## all tests: units, invariants, real data (LKDL_DATA_DIR), documentation, examples
	cargo test --workspace --all-targets
	cargo test --workspace --doc

lint: ## formatting, clippy and documentation, warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

bench: ## timed kernels (criterion) and the roofline table
	cargo bench -p lkdl
	cargo run --release -p lkdl --example roofline
