# Targets that people type. `make` alone lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
READY := $(VENV)/.ready
MODEL := .data/model/.ready
PROTOS = $(sort $(patsubst protos/%,%,$(wildcard protos/clausegate/*/v1/*.proto)))
IMAGE := gateway/contracts.binpb
PROTOC = ../$(BIN)/python -m grpc_tools.protoc -I. -I$$(../$(BIN)/python -c 'import google.api, pathlib; print(pathlib.Path(google.api.__path__[0]).parents[1])') \
	--plugin=protoc-gen-mypy=../$(BIN)/protoc-gen-mypy --plugin=protoc-gen-mypy_grpc=../$(BIN)/protoc-gen-mypy_grpc

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(READY): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

$(MODEL): $(READY)
	$(BIN)/clausegate fetch-model
	touch $@

setup: $(READY) $(MODEL) ## create .venv, install the locked packages and the local embedding model

protos: $(READY) ## regenerate the committed stubs and the descriptor set
	rm -rf clausegate/*/v1
	mkdir -p $(foreach proto,$(PROTOS),clausegate/$(patsubst clausegate/%,%,$(dir $(proto))))
	cd protos && $(PROTOC) --python_out=.. --mypy_out=quiet:.. $(PROTOS)
	cd protos && $(PROTOC) --grpc_python_out=.. --mypy_grpc_out=quiet:.. $(filter %_service.proto,$(PROTOS))
	cd protos && $(PROTOC) --include_imports --include_source_info --descriptor_set_out=../$(IMAGE) $(PROTOS)
	touch $(sort $(foreach proto,$(PROTOS),$(dir $(proto))__init__.py $(dir $(patsubst %/,%,$(dir $(proto))))__init__.py))

lock: ## pin all packages with hashes in requirements.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-emit-find-links --all-extras --quiet --custom-compile-command "make lock" pyproject.toml -o requirements.lock
