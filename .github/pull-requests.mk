# What the workflows run, here and in repositories that `igz-clusters init` makes. Whoever includes this says how the
# command line is called (IGZ), with which Python (IGZ_PYTHON), and what must be there first (READY).
BASE ?= $(shell git rev-parse --verify --quiet origin/main > /dev/null && echo origin/)main
RECORD ?= record
STREAMS ?= drift
OUTPUT ?= report.md
# Recipes take these from the environment, so that a shell never reads as its own what somebody typed into a form.
export STACK HEAD ONLY RECORD STREAMS OUTPUT

# The base branch judges from a checkout of its own. Where it pins the same release, that need not be installed twice.
ci: lint-workflows ## What the workflows run, and with it a review of the last commit against BASE=main
	@folder=$$(mktemp -d) && trap 'git worktree remove --force "$$folder"' EXIT \
		&& git worktree add --quiet --detach "$$folder" '$(BASE)' \
		&& if cmp --silent package.mk "$$folder/package.mk"; then \
			cp -p package.mk "$$folder" && ln -s '$(abspath $(PACKAGE))' "$$folder"; fi \
		&& $(MAKE) --no-print-directory -C "$$folder" review HEAD='$(CURDIR)' RECORD='$(abspath $(RECORD))'

review: $(READY) ## Judge the checkout HEAD=DIR by this one, into RECORD=DIR (COMPARED=1: with the live stacks; ONLY=stack)
	@$(IGZ) review --head "$$HEAD" --record "$$RECORD" $(if $(COMPARED),--compared) $$ONLY

report: $(READY) ## Write a review's RECORD=DIR as Markdown to OUTPUT=FILE
	@$(IGZ) report "$$RECORD" --format markdown --output "$$OUTPUT"

drift: $(READY) ## Show what changed behind Pulumi's back (STACK=...); its event stream goes to STREAMS=DIR
	@mkdir -p "$$STREAMS"
	@$(IGZ) drift "$$STACK" --events "$$STREAMS/$$STACK.jsonl"

comment: $(READY)
	@$(IGZ) comment "$$RECORD"

drift-issue: $(READY)
	@$(IGZ) drift-issue "$$STREAMS" $$STACK

tools: $(READY) ## Build the pinned tools that are missing
	@$(IGZ) toolchain build

lint-workflows: $(READY) ## Judge the workflows by actionlint and zizmor
	@$(IGZ_PYTHON) -m workbench.cli.workflows .

.PHONY: ci review report drift comment drift-issue tools lint-workflows
