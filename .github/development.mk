# Targets for developers of this package, included by the Makefile.
##@ Development of this package
test: $(INSTALLED) ## Run what every change must pass, on all cores (TIER=unit, engine or control_plane: only those)
	@$(TESTS) -m 'not full$(if $(TIER), and $(or $(MARKED_$(TIER)),$(error TIER is unit, engine or control_plane)))'

test-all: $(INSTALLED) ## Run all tests (PART=2/4: the second of four parts, which several machines can share)
	@$(TESTS) $(if $(PART),--part $(PART))

test-changed: $(INSTALLED) ## Run the tests that the changes since BASE (origin/main) need
	@$(BIN)/python -m tools.affected_tests --base "$(or $(BASE),origin/main)" --run

kills: $(INSTALLED) ## Kill every kind of run at 20 moments and recover; takes about half an hour
	@$(TESTS) --kills -k "kill or ctrl_c or at_once or damage"

proofs: $(INSTALLED) ## Run all cases of what test-all shows by some, such as random sets of pods; takes two hours
	@$(TESTS) --proofs -m proofs

rehearsals: $(INSTALLED) ## Play every shipped scenario on the stacks of each kind; takes an hour
	@$(BIN)/igz-clusters rehearse local dev prod aks-dev existing

nightly: $(INSTALLED) ## Kill runs on the AWS and Azure emulators at every call that changes something; takes a night
	@$(TESTS) --kills --moments 150 tests/control_plane/test_cloud_kills.py

TESTS = $(BIN)/igz-clusters toolchain build --hermetic && $(BIN)/python -m pytest --numprocesses auto \
	--dist loadgroup --no-loadscope-reorder
MARKED_unit := not engine and not control_plane
MARKED_engine := engine
MARKED_control_plane := control_plane and not engine

check: $(INSTALLED) ## Lint, format, types, layers, supply chain
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=tests $(BIN)/lint-imports
	$(BIN)/python -m tools.supply_chain

release: $(INSTALLED) ## Make a release of this commit in dist/ (DRY_RUN=1: keep nothing; KEY=FILE: sign with it; UNSIGNED=1)
	@$(BIN)/python -m tools.release $(if $(DRY_RUN),--dry-run) $(if $(UNSIGNED),--unsigned) $(if $(KEY),--key '$(KEY)')

bench: $(INSTALLED) ## Measure ratios of time, CPU and memory: docs/benchmarks.md (18 minutes)
	@$(BIN)/python -m tools.benchmarks

site: $(INSTALLED) ## Build the documentation site: build/site/public/index.html; warnings and broken links fail it
	@$(BIN)/python -m tools.site

site-serve: $(INSTALLED) ## Serve the site on 127.0.0.1:8000; `make site` in another shell brings changes to it
	@$(BIN)/python -m tools.site --serve

lock: $(INSTALLED) ## Pin the newest allowed versions, with hashes and without an index address
	$(BIN)/uv pip compile --upgrade pyproject.toml --extra dev --generate-hashes --python-version 3.11 \
		--no-emit-index-url --no-header --quiet -o requirements.txt
	$(BIN)/uv pip compile pyproject.toml --constraint requirements.txt --generate-hashes --python-version 3.11 \
		--no-emit-index-url --no-header --no-annotate --quiet -o infra/package/requirements.txt
	for pins in $(basename $(wildcard tests/platform/*.in)) tools/benchmarks/checkov-requirements docs/site/site-requirements; do \
		$(BIN)/uv pip compile --upgrade $$pins.in --generate-hashes --python-version 3.11 \
			--no-emit-index-url --no-header --quiet -o $$pins.txt || exit 1; \
	done

.PHONY: test test-all test-changed kills proofs rehearsals nightly check release bench site site-serve lock
