# The two commands that matter: `make up` and `make test`. `make help` lists the rest.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STACK ?= local
INSTALLED := $(VENV)/.installed
READY := $(INSTALLED)
IGZ := $(BIN)/igz-clusters
IGZ_PYTHON := $(BIN)/python
NO_PACKAGES := "error: the Python packages could not be installed; pip says why above." \
	"Check the network, HTTPS_PROXY and PIP_INDEX_URL, then run the command again."

include .github/pull-requests.mk
ci: check test

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 23

up: $(INSTALLED) ## Create or update a cluster (STACK=local): tools, control plane, nodes, policies
	@$(IGZ) up "$$STACK" $(if $(YES),--yes)

status: $(INSTALLED) ## Show the pools with their sizes now
	@$(IGZ) status "$$STACK"

preview: $(INSTALLED) ## Show what `make up` would change
	@$(IGZ) preview "$$STACK"

down: $(INSTALLED) ## Stop the local control planes; their data stays
	@$(BIN)/igz-clusters local stop --all

test: $(INSTALLED) ## Run what every change must pass, on all cores (TIER=unit, engine or control_plane: only those)
	@$(TESTS) -m 'not full$(if $(TIER), and $(or $(MARKED_$(TIER)),$(error TIER is unit, engine or control_plane)))'

test-all: $(INSTALLED) ## Run all tests
	@$(TESTS)

test-changed: $(INSTALLED) ## Run the tests that the changes since BASE (origin/main) need
	@$(BIN)/python -m tools.affected_tests --base "$(or $(BASE),origin/main)" --run

kills: $(INSTALLED) ## Kill every kind of run at 20 moments and recover; takes about half an hour
	@$(TESTS) --kills -k "kill or ctrl_c or at_once or damage"

nightly: $(INSTALLED) ## Kill runs on the AWS and Azure emulators at every call that changes something; takes a night
	@$(TESTS) --moments 150 tests/control_plane/test_cloud_kills.py

TESTS = $(BIN)/igz-clusters toolchain build --hermetic && $(BIN)/python -m pytest --numprocesses auto \
	--dist loadgroup --no-loadscope-reorder
MARKED_unit := not engine and not control_plane
MARKED_engine := engine
MARKED_control_plane := control_plane and not engine

check: $(INSTALLED) ## Lint, format, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=tests $(BIN)/lint-imports

bench: $(INSTALLED) ## Measure ratios of time, CPU and memory: docs/benchmarks.md (18 minutes)
	@PYTHONPATH=tests $(BIN)/python -m tools.benchmarks

lock: $(INSTALLED) ## Pin the newest allowed versions, with hashes and without an index address
	$(BIN)/uv pip compile --upgrade pyproject.toml --extra dev --generate-hashes --python-version 3.11 \
		--no-emit-index-url --no-header --quiet -o requirements.txt
	for pins in tests/platform/mlrun-requirements tools/benchmarks/checkov-requirements; do \
		$(BIN)/uv pip compile --upgrade $$pins.in --generate-hashes --python-version 3.11 \
			--no-emit-index-url --no-header --quiet -o $$pins.txt || exit 1; \
	done

# The editable install puts the checkout itself on the path, so that the engine's program and the policy packs find
# `components` although both start in folders of their own.
$(INSTALLED): requirements.txt pyproject.toml
	@echo "Installing Python packages into $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt || { echo $(NO_PACKAGES) >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --config-settings editable_mode=compat -e .
	@touch $@

.PHONY: help up status preview down test test-all test-changed kills nightly check bench lock
