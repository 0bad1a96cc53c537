# Targets for users of a cluster; those for developers are in .github/development.mk. `make help` lists all.
.DEFAULT_GOAL := help
PYTHON ?= python3
# The SDKs have 15,000 modules, of which a program imports a few hundred: Python compiles those when it first imports them.
export PYTHONDONTWRITEBYTECODE :=
VENV := .venv
BIN := $(VENV)/bin
STACK ?= local
INSTALLED := $(VENV)/.installed
READY := $(INSTALLED)
IGZ := $(BIN)/igz-clusters
IGZ_PYTHON := $(BIN)/python
NO_PACKAGES := "error: the Python packages could not be installed; pip says why above." \
	"Check the network, HTTPS_PROXY and PIP_INDEX_URL, then run the command again."

include .github/pull-requests.mk .github/development.mk
ci: check test

##@ Clusters
help: ## List the targets, those for users first
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: $(INSTALLED) ## Create or update a cluster (STACK=local): tools, control plane, nodes, policies
	@$(IGZ) up "$$STACK" $(if $(YES),--yes) $(if $(REQUIRE_APPROVALS),--require-approvals)

status: $(INSTALLED) ## Show the pools with their sizes now
	@$(IGZ) status "$$STACK"

preview: $(INSTALLED) ## Show what `make up` would change
	@$(IGZ) preview "$$STACK" $(if $(REQUIRE_APPROVALS),--require-approvals)

down: $(INSTALLED) ## Stop the local control planes; their data stays
	@$(BIN)/igz-clusters local stop --all

# The editable install puts the checkout itself on the path, so that the engine's program and the policy packs find
# `components` although both start in folders of their own.
$(INSTALLED): requirements.txt pyproject.toml
	@echo "Installing Python packages into $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements.txt || { echo $(NO_PACKAGES) >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: help up status preview down
