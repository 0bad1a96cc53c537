# What the workflows run, here and in repositories that `igz-clusters init` makes. The including
# Makefile sets the command line (IGZ), its Python (IGZ_PYTHON) and a prerequisite (READY).
BASE ?= $(shell git rev-parse --verify --quiet origin/main > /dev/null && echo origin/)main
RECORD ?= record
STREAMS ?= drift
OUTPUT ?= report.md
# Recipes take these from the environment, so that a shell never interprets what was typed into a form.
export STACK HEAD ONLY RECORD REHEARSAL STREAMS OUTPUT WAVE

##@ Pull requests and drift
# The base branch's rules run in a separate checkout; a release that both pin is not installed twice.
ci: lint-workflows ## Run what the workflows run, and review the last commit against BASE=main
	@folder=$$(mktemp -d) && trap 'git worktree remove --force "$$folder"' EXIT \
		&& git worktree add --quiet --detach "$$folder" '$(BASE)' \
		&& if cmp --silent package.mk "$$folder/package.mk"; then \
			cp -p package.mk "$$folder" && ln -s '$(abspath $(PACKAGE))' "$$folder"; fi \
		&& $(MAKE) --no-print-directory -C "$$folder" review HEAD='$(CURDIR)' RECORD='$(abspath $(RECORD))'

review: $(READY) ## Review the checkout HEAD=DIR by this one's rules, into RECORD=DIR (COMPARED=1: with the live stacks; ONLY=stack; REHEARSAL=FILE: with its costs)
	@$(IGZ) review --head "$$HEAD" --record "$$RECORD" $(if $(COMPARED),--compared) $(if $(REHEARSAL),--rehearsal "$$REHEARSAL") $$ONLY

report: $(READY) ## Write a review's RECORD=DIR as Markdown to OUTPUT=FILE
	@$(IGZ) report "$$RECORD" --format markdown --output "$$OUTPUT"

drift: $(READY) ## Report changes made outside Pulumi (STACK=...); event stream in STREAMS=DIR
	@mkdir -p "$$STREAMS"
	@$(IGZ) drift "$$STACK" --events "$$STREAMS/$$STACK.jsonl"

comment: $(READY)
	@$(IGZ) comment "$$RECORD"

drift-issue: $(READY)
	@$(IGZ) drift-issue "$$STREAMS" $$STACK

tools: $(READY) ## Build the pinned tools that are missing
	@$(IGZ) toolchain build

lint-workflows: $(READY) ## Check the workflows with actionlint and zizmor
	@$(IGZ_PYTHON) -m workbench.workflows .

.PHONY: ci review report drift comment drift-issue tools lint-workflows
