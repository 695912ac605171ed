# make            lists the targets and their options
# Options are variables: make grade SUBMISSION=path JSON=result.json

TARGETS = help check watch grade report viva submit clean
SUBMISSION ?= starter
PYTHON ?= python3
VENV ?= .venv
FROM_PEOPLE = SUBMISSION PYTHON VENV K JSON TIER OUT N SEED PAGE PIP_ARGS
# What people write after `make` is data: a file's name may hold $(shell ...) or a backtick. Make takes
# it as it is, without expanding it, and recipes read it from the environment, quoted by the shell.
as_data = $(foreach name,$(1),$(eval override $(name) := $$(value $(name))))
$(call as_data,$(FROM_PEOPLE))
export TENSORMARK_MAKE = 1
BIN = "$$VENV"/bin
# an option on the command line, or nothing if it is empty; the same for one without a value
option = $${$(2):+"--$(1)=$$$(2)"}
flag = $${$(2):+--$(1)}
# -P: a file of yours, such as torch.py, is not taken for a package
TOOL = $(BIN)/python -P -m tensormark
GRADE = $(call option,only,K) $(call option,json,JSON) $(call option,tier,TIER)
# how pip installs the engine: a wheel in engine/, which a later one may lie beside
ENGINE = --no-index --find-links engine --upgrade tensormark

# The targets and options of staff, which students do not get.
-include instructor/staff.mk
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

.DEFAULT_GOAL := help
.PHONY: $(TARGETS)

##@ For students: write the functions in starter/bert.py that handout.md describes
check: $(VENV)/.installed  ## the five functions in starter/bert.py, without training: seconds
	@$(TOOL) check $(GRADE) -- "$$SUBMISSION"

watch: $(VENV)/.installed  ## the same again each time you save, within a second; Ctrl-C ends
	@$(TOOL) watch $(call option,only,K) -- "$$SUBMISSION"

grade: $(VENV)/.installed  ## everything, with the fine-tune: about ten seconds
	@$(TOOL) grade $(GRADE) -- "$$SUBMISSION"

report: $(VENV)/.installed  ## the same as a page with figures, report.html, opened in your browser
	@$(TOOL) report $(GRADE) --open $(call option,out,OUT) -- "$$SUBMISSION"

viva: $(VENV)/.installed  ## questions on your own functions, marked and explained
	@$(TOOL) viva $(call option,tier,TIER) $(call option,n,N) $(call option,seed,SEED) \
		$(call option,page,PAGE) $(call option,out,OUT) --open -- "$$SUBMISSION"

submit: $(VENV)/.installed  ## pack what you hand in, and grade it as your instructor will (OUT=)
	@$(TOOL) submit $(call option,out,OUT) -- "$$SUBMISSION"

clean:  ## remove .venv/ and what programs have written
	rm -rf "$$VENV" $(STAFF_CACHES) runs predictions starter/runs starter/predictions report.html viva.html .grade

help:  ## this list
	@awk -F ' +## +' ' \
		/^##@ / {sub(/^##@ /, ""); print (headings++ ? "\n" : "") $$0} \
		/^#: / {sub(/^#: /, ""); printf (NF > 1 ? "    %-22s  %s\n" : "  %s\n"), $$1, $$2} \
		/^[a-z-]+:.* ## / {sub(/:.*/, "", $$1); printf "  make %-19s  %s\n", $$1, $$2}' \
		$(MAKEFILE_LIST)
#: SUBMISSION=path  ## what to grade, if not starter/: a folder, a bert.py or a zip
#: K=attention,layer  ## only these exercises
#: JSON=result.json  ## also write the result to this file
#: OUT=report.html  ## with report and viva: the page; with submit: the zip
#: N=5 SEED=7 PAGE=no  ## with viva: how many questions, which, and on the terminal
#: TIER=locked  ## isolate your code as your instructor does; on Linux only
#: VENV=dir  ## the virtual environment; default: .venv
#: PYTHON=python3.12  ## in the first run: the Python to use, 3.11 or newer
#: PIP_ARGS="..."  ## in the first run: where pip gets packages; see README.md
#: For example: make check K=attention SUBMISSION=../mine/bert.py
#: Programs, run in starter/: ../.venv/bin/python classifier.py --help, and visualize.py --help

# PIP_ARGS tells pip where to find packages: make grade PIP_ARGS="--index-url ..."
PIP = -m pip install --disable-pip-version-check $$PIP_ARGS
# Install $(2) with the Python $(1). On a terminal pip draws its progress; elsewhere it writes a line
# for each package and its size, and those that are there already are left out.
define INSTALL
if [ -t 2 ]; then $(1) $(PIP) $(2) >&2; else \
	status=$$({ { $(1) $(PIP) --progress-bar=off $(2); echo $$? >&3; } \
		| grep --line-buffered -v "already satisfied" >&2; } 3>&1); \
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

# What is unzipped keeps its date, so that only its name tells a new wheel of the engine from the one
# that is installed: the name is noted beside the packages.
WHEELS = $(patsubst engine/%,$(VENV)/.%,$(wildcard engine/*.whl))
$(WHEELS):

$(VENV)/.installed: requirements.txt $(WHEELS) $(ENGINE_SOURCE)
	@$(call VIRTUAL_ENVIRONMENT,"$$VENV")
	@$(call INSTALL,$(BIN)/python,-r requirements.txt $(ENGINE_BUILDER))
	@$(call INSTALL,$(BIN)/python,$(ENGINE))
	@touch $(patsubst %,"%",$(WHEELS)) "$@"
