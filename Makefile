# make            lists the targets and their options
# Options are variables: make grade SUBMISSION=path JSON=result.json. They count only after `make`:
# a VENV or OUT in the environment is meant for something else.

TARGETS = help check watch grade report debug viva submit clean
SUBMISSION = starter
PYTHON = python3
VENV = .venv
FROM_PEOPLE = SUBMISSION PYTHON VENV K JSON TIER OUT NAME N SEED PIP_ARGS
# What people type after `make` is data: a file's name may contain $(shell ...) or a backtick. Make
# does not expand it, and recipes read it from the environment, quoted by the shell.
as_data = $(foreach each,$(1),$(if $(filter environment,$(origin $(each))),$(eval $(each) =))\
	$(eval override $(each) := $$(value $(each))))
$(call as_data,$(FROM_PEOPLE))
export TENSORMARK_MAKE = 1
# What `module load`, conda or a profile set would send packages elsewhere, take them from elsewhere,
# refuse them, or keep Python waiting at its prompt.
export PIP_USER = 0
unexport PIP_TARGET PIP_PREFIX PIP_ROOT PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONSTARTUP
unexport PIP_CONSTRAINT PIP_BUILD_CONSTRAINT PIP_REQUIRE_HASHES PIP_NO_DEPS PIP_DRY_RUN PIP_PYTHON \
	PIP_NO_BINARY PIP_ONLY_BINARY PIP_IGNORE_INSTALLED
BIN = "$$VENV"/bin
# an option for the command line, or nothing if its variable is empty; a flag has no value
option = $${$(2):+"--$(1)=$$$(2)"}
flag = $${$(2):+--$(1)}
# -P: do not import a file of yours, such as torch.py, as a package
TOOL = $(BIN)/python -P -m tensormark
GRADE = $(call option,only,K) $(call option,json,JSON) $(call option,tier,TIER)
# how pip installs the engine: from the newest wheel in engine/
ENGINE = --no-index --find-links engine --upgrade tensormark

# Targets and options for staff, which students do not get.
-include instructor/staff.mk
export $(FROM_PEOPLE)

# Make ignores unknown variables, and reports an existing file as up to date. Here, both are typing
# mistakes. Shells that complete targets use goals and variables of their own.
upper = $(shell printf %s '$(subst ','\'',$(1))' | tr a-z A-Z)
unknown = $(foreach __each,$(.VARIABLES),$(if $(filter command,$(origin $(__each))),$(__each)))
UNKNOWN := $(firstword $(filter-out __% MAKEFLAGS SHELL,$(unknown)))
ifneq ($(UNKNOWN),)
$(error unknown option $(UNKNOWN)=; $(or $(patsubst %,use %=,$(filter \
	$(call upper,$(UNKNOWN)),$(FROM_PEOPLE))),`make help` lists the options))
endif
UNKNOWN := $(firstword $(filter-out $(TARGETS) .DEFAULT .PHONY,$(MAKECMDGOALS)))
ifneq ($(UNKNOWN),)
$(error unknown target $(UNKNOWN); options are written NAME=value: make check K=attention, or \
	make check SUBMISSION="path"; `make help` lists both)
endif

.DEFAULT_GOAL := help
.PHONY: $(TARGETS) .interpreter

##@ For students: write the functions in starter/bert.py that handout.md describes
check: $(VENV)/.installed  ## grade the five functions in starter/bert.py, without training: seconds
	@$(TOOL) check $(GRADE) -- "$$SUBMISSION"

# exec: the shell would be interrupted too, which make reports as a failure
watch: $(VENV)/.installed  ## check again within a second of each save; stop it with Ctrl-C
	@exec $(TOOL) watch $(call option,only,K) -- "$$SUBMISSION"

grade: $(VENV)/.installed  ## grade everything, including the fine-tune: about ten seconds
	@$(TOOL) grade $(GRADE) -- "$$SUBMISSION"

report: $(VENV)/.installed  ## the same as a page with figures, report.html, opened in your browser
	@$(TOOL) report $(GRADE) --open $(call option,out,OUT) -- "$$SUBMISSION"

debug: $(VENV)/.installed  ## run the failing call in Python's debugger, which stops on the line at fault
	@$(TOOL) debug $(call option,only,K) -- "$$SUBMISSION"

viva: $(VENV)/.installed  ## answer questions about your own functions
	@$(TOOL) viva $(call option,tier,TIER) $(call option,n,N) $(call option,seed,SEED) \
		$(call option,out,OUT) --open -- "$$SUBMISSION"

submit: $(VENV)/.installed  ## pack what you hand in, and grade it as your instructor will (OUT=)
	@$(TOOL) submit $(call option,out,OUT) $(call option,name,NAME) -- "$$SUBMISSION"

clean:  ## remove .venv/ and what programs write by default; submission.zip and JSON= files stay
	@[ ! -e "$$VENV" ] || $(IS_OURS) || { echo "VENV=$$VENV: $(NOT_OURS)" >&2; exit 1; }
	rm -rf "$$VENV" $(STAFF_CACHES) $(OUTPUTS) $(OUTPUTS:%=starter/%)
	@rmdir runs predictions starter/runs starter/predictions 2>/dev/null || true
	@for page in report.html viva.html; do ! grep -qs '$(OUR_PAGE)' $$page || rm $$page; done

help:  ## this list
	@awk -F ' +## +' ' \
		/^##@ / {sub(/^##@ /, ""); print (headings++ ? "\n" : "") $$0} \
		/^#: / {sub(/^#: /, ""); printf (NF > 1 ? "    %-22s  %s\n" : "  %s\n"), $$1, $$2} \
		/^[a-z-]+:.* ## / {sub(/:.*/, "", $$1); printf "  make %-19s  %s\n", $$1, $$2}' \
		$(MAKEFILE_LIST)
#: SUBMISSION=path  ## what to grade instead of starter/: a folder, a bert.py or a zip
#: K=attention,layer  ## only these exercises
#: JSON=result.json  ## also write the result to this file
#: OUT=report.html  ## with report and viva: the page; with submit: the zip
#: NAME="Ada L."  ## with submit: your name on the leaderboard; default: anonymous
#: N=5 SEED=7  ## with viva: how many questions, and which ones
#: TIER=locked  ## isolate your code as your instructor does; only on Linux
#: VENV=dir  ## the virtual environment; default: .venv
#: PYTHON=python3.12  ## on the first run: the Python to use, 3.11 or newer
#: PIP_ARGS="..."  ## on the first run: where pip gets packages; see README.md
#: For example: make check K=attention SUBMISSION=../mine/bert.py
#: Programs to run in starter/: ../.venv/bin/python classifier.py --help, and visualize.py --help

# PIP_ARGS tells pip where to find packages: make grade PIP_ARGS="--index-url ..."
PIP = -m pip install --disable-pip-version-check $$PIP_ARGS
# Install $(2) with the Python $(1). On a terminal pip draws its progress; elsewhere it prints a
# line with the name and size of each package, except those already installed.
define INSTALL
if [ -t 2 ]; then $(1) $(PIP) $(2) >&2; else \
	status=$$({ { $(1) $(PIP) --progress-bar=off $(2); echo $$? >&3; } \
		| grep --line-buffered -v "already satisfied" >&2; } 3>&1); \
	[ "$$status" = 0 ]; \
fi
endef

CPU_ONLY = --extra-index-url https://download.pytorch.org/whl/cpu

# what programs write by default; a student may have other files in the same folders
OUTPUTS = runs/attention.png runs/pretrained predictions/*-out.txt predictions/curves.png
# what our pages contain: PAGE of the engine's files.py
OUR_PAGE = style-src .sha256-

# Only an environment that was made here has this file, and is deleted.
IS_OURS = [ -e "$$VENV"/.made-by-make ]
NOT_OURS = was not made by this Makefile; delete it yourself, or name another folder
# Create a virtual environment in the folder $(1) unless it exists; finish an interrupted one.
define VIRTUAL_ENVIRONMENT
if [ -e $(1)/.unfinished ] || ! $(1)/bin/python -m pip --version >/dev/null 2>&1; then \
	$(IS_OURS) || [ -z "$$(ls -A $(1) 2>/dev/null)" ] || \
		{ echo "VENV=$$VENV: $(NOT_OURS)" >&2; exit 1; }; \
	"$$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "minBERT needs Python 3.11 or newer, and $$PYTHON is older or not found;" \
			"name another, such as PYTHON=python3.12" >&2; exit 1; }; \
	echo "first run: installing torch and 15 small packages, 210 MB, into" $(1) >&2; \
	if [ "$$(uname -s)" = Linux ] && [ -z "$$PIP_ARGS" ]; then \
		echo "plus, on Linux, gigabytes for GPUs; to skip those, press Ctrl-C and add to the command" >&2; \
		echo '    PIP_ARGS="$(CPU_ONLY)"' >&2; fi; \
	mkdir -p $(1) && touch $(1)/.made-by-make $(1)/.unfinished && \
	"$$PYTHON" -m venv $(1) && rm $(1)/.unfinished; \
fi
endef

# What was installed counts only if it is found, and found here.
WORKS = 'import sys, numpy, tensormark, torch; \
	sys.exit(not all(m.__file__.startswith(sys.prefix) for m in (numpy, torch)))'
BROKEN = numpy, torch or tensormark cannot be imported from $$VENV: run \`make clean\`, then try again

# Unzipped files keep their dates, so only its name tells a new wheel of the engine from the installed
# one: a file of that name in the virtual environment records it.
WHEELS = $(patsubst engine/%,$(VENV)/.%,$(wildcard engine/*.whl))
$(WHEELS):

# the system's Python may have been updated or removed since
.interpreter:
	@[ ! -e "$$VENV"/.installed ] || $(BIN)/python -I -S -c "" 2>/dev/null || \
		{ echo "the Python of $$VENV is gone: run \`make clean\`, then try again" >&2; exit 1; }

# What the first run installs of requirements.txt: a package alone, without those that it needs for
# what nobody uses here, and the others except what tests and figures need.
ALONE = tokenizers
INSTALLED = $$(sed -n 's/^\([a-z].*==[^ ]*\).*/\1/p' requirements.txt | grep $(1) "^($(2))")

$(VENV)/.installed: requirements.txt $(WHEELS) $(ENGINE_SOURCE) | .interpreter
	@$(call VIRTUAL_ENVIRONMENT,"$$VENV")
	@$(call INSTALL,$(BIN)/python,--no-deps $(call INSTALLED,-E,$(ALONE)))
	@$(call INSTALL,$(BIN)/python,$(call INSTALLED,-vE,$(ALONE)|matplotlib|pytest) $(ENGINE_BUILDER))
	@$(call INSTALL,$(BIN)/python,$(ENGINE))
	@$(BIN)/python -P -c $(WORKS) >&2 || { echo "$(BROKEN)" >&2; exit 1; }
	@touch $(patsubst %,"%",$(WHEELS)) "$@"
