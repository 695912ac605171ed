# make            the targets, one line each
# Knobs are variables: make grade SUBMISSION=path JSON=result.json

SUBMISSION ?= starter
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# what a knob becomes on the command line, or nothing
option = $(if $(2),--$(1) "$(2)")
flag = $(if $(2),--$(1))
GRADE = $(BIN)/python -m grader.grade "$(SUBMISSION)" $(call option,only,$(K)) $(call option,json,$(JSON)) \
	$(call option,references,$(REFERENCES)) $(call option,checkpoint,$(CHECKPOINT)) \
	$(call option,threads,$(THREADS)) $(call option,tier,$(TIER))

.DEFAULT_GOAL := help
.PHONY: help check grade test bench soak lint starter references checkpoint import-checkpoint export-checkpoint data gate clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check: $(VENV)/.installed  ## the five exercises of SUBMISSION (default: starter), no training: seconds
	@$(GRADE) --check

grade: $(VENV)/.installed  ## everything, fine-tuning included: a folder, a bert.py or a zip
	@$(GRADE)

test: $(VENV)/.installed-staff  ## the project's own tests
	@$(BIN)/python -m pytest -n auto --dist loadgroup $(ARGS)

bench: $(VENV)/.installed-staff  ## ratios measured on this machine: minutes
	@$(BIN)/python -m benchmarks.isolation

soak: $(VENV)/.installed-staff  ## slow tests: fuzzing at length, one submission fifty times
	@FUZZ=long $(BIN)/python -m pytest tests/test_fuzz.py -n auto
	@$(BIN)/python -m benchmarks.same_score

lint: $(VENV)/.installed-staff  ## format, style and types
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy

starter: $(VENV)/.installed  ## derive starter/ from solution/ (CHECK=1 only compares)
	@$(BIN)/python -m instructor.strip $(call flag,check,$(CHECK))

references: $(VENV)/.installed  ## record reference_outputs/ from solution/ (SEED=, OUT=, CHECKPOINT=, CHECK=1)
	@$(BIN)/python -m instructor.record $(call option,seed,$(SEED)) $(call option,out,$(OUT)) \
		$(call option,checkpoint,$(CHECKPOINT)) $(call flag,check,$(CHECK))

checkpoint: $(VENV)/.installed  ## pre-train the frozen checkpoint: minutes (CHECK=1 only compares)
	@$(BIN)/python -m instructor.pretrain $(call flag,check,$(CHECK))

import-checkpoint: $(VENV)/.installed  ## a Hugging Face BERT, FROM=dir, becomes a checkpoint, OUT=dir
	@$(BIN)/python -m instructor.import_checkpoint "$(FROM)" "$(OUT)"

export-checkpoint: $(VENV)/.installed  ## what classifier.py saved, FROM=dir, for transformers, OUT=dir
	@$(BIN)/python -m instructor.export_checkpoint "$(FROM)" "$(OUT)"

data: $(VENV)/.installed-staff  ## write the sentiment data (SEED=, CHECK=1)
	@$(BIN)/python -m instructor.write_data $(call option,seed,$(SEED)) $(call flag,check,$(CHECK))

gate: $(VENV)/.installed-staff  ## measure the sentiment threshold: many fine-tunes
	@$(BIN)/python -m instructor.measure_gate

clean:  ## remove what these targets made and git does not keep
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache runs predictions dist

INSTALL = $(BIN)/python -m pip install --disable-pip-version-check -q $(PIP_ARGS)

# pip may be told where to find packages: make grade PIP_ARGS="--index-url ..."
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "minBERT needs Python 3.11 or newer; say which: make PYTHON=python3.12" >&2; exit 1; }
	@echo "setting up $(VENV), which takes a few minutes and is done once" >&2
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt | $(VENV)/bin/python
	@$(INSTALL) -r requirements.txt
	@touch $@

$(VENV)/.installed-staff: requirements-staff.txt $(VENV)/.installed
	@echo "installing what the tests need, which is done once" >&2
	@$(INSTALL) -r requirements-staff.txt
	@touch $@
