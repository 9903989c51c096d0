# Two commands to begin with: `make demo` and `make test`. Both set up the environment first; a second call does not reinstall.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
VISION := $(VENV)/.vision
DOCS := $(VENV)/.docs
export OPENBLAS_NUM_THREADS = 1

.PHONY: demo test test-fast lint format stubs dashboards reference docs screenshots wheel requirements clean
.DEFAULT_GOAL := demo

demo: $(READY)  ## run PaME on the embedded default experiment; at a terminal its live page stays until Ctrl-C
	@$(BIN)/pame run --stay

test: $(VISION)  ## all tests; what needs a tool this machine lacks is skipped with its reason
	$(BIN)/python -m pytest

test-fast: $(VISION)  ## the pure tests alone: no process, port, container or browser
	$(BIN)/python -m pytest -m 'not edge and not slow'

lint: $(VISION)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

stubs: $(READY)  ## write contract/rpc anew from proto/pame/v1
	$(BIN)/python proto/generate.py

dashboards: $(READY)  ## write deploy/grafana/dashboards anew from the code beside it
	$(BIN)/python -m deploy.grafana.make_dashboards

reference: $(READY)  ## write docs/experiment.md anew from the schema of experiment files, docs/commands.md from the command
	$(BIN)/pame schema --markdown > docs/experiment.md
	$(BIN)/python -m docs.making.commands > docs/commands.md

docs: $(DOCS)  ## the documentation as a site, in site/; open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

screenshots: $(READY)  ## the pictures of the README anew: live page and report, light and dark; needs chromium
	$(BIN)/python -m docs.making.screenshots

wheel: $(READY)  ## build the wheel into dist/, and try it in an empty environment
	.ci/try-wheel

requirements:  ## write requirements.txt anew: the newest versions that fit, with their hashes; needs uv
	sed -i '/^[^#]/,$$d' requirements.txt
	uv pip compile pyproject.toml --universal --python-version 3.11 --upgrade \
		--generate-hashes --no-annotate --no-header --quiet >> requirements.txt

clean:
	rm -rf $(VENV) site dist .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	@echo "setting up $(VENV) (once, about a minute)"
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) >/dev/null || \
		{ $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -qq pip; }
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VISION): $(READY)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[vision,notebook]'
	@touch $@

$(DOCS): $(READY)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[docs]'
	@touch $@
