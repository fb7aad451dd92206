# SPDX-License-Identifier: Apache-2.0
#
# `make help` lists what there is. The repository holds ten Go modules: the product (here), test/ (real control
# planes and end-to-end tests), test/oracle/ (sizes beside VPA's library), test/certmanager/ (the controllers of cert-manager), test/karmada/
# (the programs of Karmada), test/kubernetes/*/ (those of control planes of other minor versions of Kubernetes), tools/ (pinned tools, built
# once into a cache), tools/dist/ (which makes releases) and tools/monitoring/ (alerts and dashboards, judged by Prometheus' engine, and
# what is read of a past from its API).

GO      ?= go
MEMBERS ?= 2
LAB_DIR ?= $(CURDIR)/.lab

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The race detector needs cgo, and so a C compiler.
RACE = $(shell test "$$($(GO) env CGO_ENABLED)" = 1 && command -v $$($(GO) env CC) >/dev/null && echo -race)
SAY_RACE = test -n "$(RACE)" || echo "No C compiler found (gcc or clang): the tests run WITHOUT the race detector."

# Tools are kept outside the repository under a key of what they are built from.
TOOLS_KEY = $(shell { cat tools/go.mod tools/go.sum; $(GO) env GOVERSION; } | git hash-object --stdin | cut -c 1-12)
TOOLS     = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/fleetscale/tools/$(TOOLS_KEY)
TOOL      = test -x $(TOOLS)/$(1) || { echo "Building $(1) from source (once; golangci-lint takes minutes on two cores) ..." && \
            mkdir -p $(TOOLS) && $(GO) -C tools build -o $(TOOLS)/$(1).new $(2) && mv $(TOOLS)/$(1).new $(TOOLS)/$(1); }
OPENAPI_GEN    = $(call TOOL,openapi-gen,k8s.io/kube-openapi/cmd/openapi-gen)
CONTROLLER_GEN = $(call TOOL,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen)
GOVULNCHECK    = $(call TOOL,govulncheck,golang.org/x/vuln/cmd/govulncheck)
GOLANGCI_LINT  = $(call TOOL,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

OPENAPI = pkg/metricsadapter/openapi
OPENAPI_INPUTS = $(addprefix k8s.io/,metrics/pkg/apis/metrics/v1 metrics/pkg/apis/metrics/v1beta1 \
    apimachinery/pkg/apis/meta/v1 apimachinery/pkg/api/resource apimachinery/pkg/version apimachinery/pkg/runtime) ./pkg/apis/members/v1alpha1 \
    ./pkg/apis/history/v1alpha1
# Of members.fleetscale.io, which the metrics adapter serves, a definition is made for docs/api.md only.
APIS = $(addprefix pkg/apis/,autoscaling/v1alpha1 fleetscale/v1alpha1 history/v1alpha1 members/v1alpha1)
CRDS = $(addprefix deploy/crds/autoscaling.karmada.io_,federatedhpas.yaml cronfederatedhpas.yaml \
    multidimpodautoscalers.yaml multidimpodautoscalerhistories.yaml) deploy/member-sizes/fleetscale.io_podsizes.yaml

# All of it, in the order in which it is made, and how; $(1) is the root directory to write below.
GENERATED = $(OPENAPI)/zz_generated.openapi.go $(addsuffix /zz_generated.deepcopy.go,$(APIS)) $(CRDS) docs/api.md docs/cli.md docs/metrics-reference.md \
    $(addprefix deploy/components/monitoring/dashboards/,autoscaler.json fleet.json)
GENERATE = set -e; raw=$$(mktemp -d); mkdir -p $(dir $(addprefix $(1)/,$(GENERATED))); \
    $(TOOLS)/openapi-gen --go-header-file hack/boilerplate.go.txt --report-filename /dev/null \
        --output-pkg github.com/fleetscale/fleetscale/$(OPENAPI) --output-file zz_generated.openapi.go --output-dir $(1)/$(OPENAPI) $(OPENAPI_INPUTS); \
    $(foreach api,$(APIS),$(TOOLS)/controller-gen object:headerFile=hack/boilerplate.go.txt crd paths=./$(api) \
        output:object:dir=$(1)/$(api) output:crd:dir=$$raw;) \
    $(GO) -C tools run ./crds $$raw $$raw; $(foreach crd,$(CRDS),cp $$raw/$(notdir $(crd)) $(1)/$(crd);) \
    $(GO) -C tools run ./apidoc $(CURDIR)/deploy/crds/kustomization.yaml $(1)/deploy/crds $(CURDIR)/docs/examples $(1)/docs/api.md \
        $(1)/deploy/member-sizes/fleetscale.io_podsizes.yaml $$raw/members.fleetscale.io_members.yaml; rm -r $$raw; \
    $(GO) test ./cmd/kubectl-fleetscale/app -count 1 -run '^TestReferenceIsCurrent$$' -args -reference $(1)/docs/cli.md; \
    $(GO) test ./cmd -count 1 -run '^TestMetricsReferenceIsCurrent$$' -args -reference $(1)/docs/metrics-reference.md; \
    $(GO) -C tools/monitoring run . $(1)/deploy/components/monitoring/dashboards

.PHONY: help
help: ## List the targets
	@echo "fleetscale autoscales one workload that runs in many Kubernetes clusters. Targets:"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-11s  %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: need-go
need-go:
	@command -v $(GO) >/dev/null || { echo "Go is not installed, or not on PATH. Get it from https://go.dev/dl, then run make again."; exit 1; }
	@$(GO) list -m >/dev/null 2>&1 || { echo "Go $$($(GO) env GOVERSION) cannot build this: $$(sed -n 's/^go //p' go.mod) or newer is needed." \
	    "Get it from https://go.dev/dl, or let Go fetch it itself with GOTOOLCHAIN=auto."; exit 1; }

##-- Build and see

.PHONY: build
build: need-go ## Build the programs into bin/
	$(GO) build -o bin/ ./cmd/...

# The same commit and version of Go give the same bytes: tools/dist says what they are.
.PHONY: dist
dist: need-go ## Make a release in bin/dist/: programs for all platforms, images, manifests, Helm charts, checksums; REGISTRY=ghcr.io/fleetscale, HERE=1 for this machine's platform only
	$(GO) -C tools/dist run . build -root $(CURDIR) -out $(CURDIR)/bin/dist $(if $(REGISTRY),-registry $(REGISTRY)) $(if $(HERE),-here)

.PHONY: push
push: need-go ## Push the images of bin/dist/ to the registry that they were made for, as whom docker login has logged in
	$(GO) -C tools/dist run . push -out $(CURDIR)/bin/dist

.PHONY: manifests
manifests: need-go ## Write install-*.yaml and the Helm charts into bin/manifests/, in seconds: images as deploy/ names them; REGISTRY=ghcr.io/fleetscale
	$(GO) -C tools/dist run . manifests -root $(CURDIR) -out $(CURDIR)/bin/manifests $(if $(REGISTRY),-registry $(REGISTRY))

.PHONY: demo
demo: need-go ## Show kubectl top and an autoscaler over two real clusters, on this machine; MODE=sim does without Kubernetes, in a minute, MODE=distributed splits one among three, MODE=multidim recommends sizes, and gives them to Pods
	@echo "Building the demo itself, which takes minutes where Go's cache is empty ..."
	$(GO) -C test run ./cmd/demo $(if $(MODE),-mode=$(MODE))

# Recordings are what the commands of the quick start print on a lab; pictures are drawn of them.
.PHONY: pictures
pictures: need-go ## Record the terminals that the documentation shows, on a lab, and draw them: docs/pictures/
	$(GO) -C test test -count 1 -v -timeout 30m -run '^TestQuickstart$$' ./install -args -record

.PHONY: lab-up
lab-up: need-go ## Start a hub and members on this machine (MEMBERS=2, LAB_DIR=.lab)
	$(GO) -C test run ./cmd/lab up --members $(MEMBERS) --dir $(LAB_DIR)

.PHONY: lab-down
lab-down: need-go ## End what lab-up started
	$(GO) -C test run ./cmd/lab down --dir $(LAB_DIR)

##-- Test

.PHONY: test
test: test-unit test-oracle test-e2e ## Run the tests of the main job in their short form: some 20 minutes on two cores once the caches are warm

# With test, these are all short forms: what continuous integration runs.
.PHONY: test-more
test-more: test-dist test-monitoring test-stages ## Run the other tests in their short form: releases, alerts, and each further stage; some 30 minutes

.PHONY: test-unit
test-unit: need-go ## Run the unit tests, with the race detector where there is a C compiler
	@$(SAY_RACE)
	$(GO) test $(RACE) -short -timeout 8m ./...

.PHONY: test-oracle
test-oracle: need-go ## Compare the advice on sizes with that of VPA's library, 100,000 times
	$(GO) -C test/oracle test -short -count 1 -timeout 10m ./...

.PHONY: test-dist
test-dist: need-go ## Make a release of small programs, push its images, and check all of it
	$(GO) -C tools/dist test -short -count 1 -timeout 10m ./...

.PHONY: test-monitoring
test-monitoring: need-go ## Have each alert fire, find what alerts and dashboards read among the metrics, and read decisions back from a Prometheus
	$(GO) -C tools/monitoring test -short -count 1 -timeout 10m ./...

# The stages of the main job: the programs on real control planes, and decisions beside those of the upstream controller. What they are built
# of is tested with them. All other stages, and the slow cases of e2e that need nobody else, are of test-more.
MAIN_STAGES  = ./differential/replicas ./sim/... ./lab/internal/...
OTHER_STAGES = $(filter-out $(shell $(GO) -C test list ./e2e $(MAIN_STAGES)),$(shell $(GO) -C test list ./...))
E2E_MORE     = ^(TestCron|TestManifestsAreAccepted|TestHubThatRunsWorkloads|TestVersionsAndEncodings)$$

# Small stages two by two (-p 2): one waits for its lab while the other computes. The large one by itself: two of its
# size would starve each other on a small machine, and only then does Go show the output while a test runs.
.PHONY: test-e2e
test-e2e: need-go ## Run the end-to-end tests of the main job on real control planes, in their short form
	$(GO) -C test run ./cmd/lab build
	@echo "Building the tests ..."
	$(GO) -C test vet ./...
	$(GO) -C test test -short -count 1 -p 2 -v -timeout 15m $(MAIN_STAGES)
	$(GO) -C test test -short -count 1 -v -timeout 20m -skip '$(E2E_MORE)' ./e2e

.PHONY: test-stages
test-stages: need-go ## Run all other tests on real control planes, in their short form; with test-node
	$(GO) -C test run ./cmd/lab build --real-nodes
	$(GO) -C test test -short -count 1 -p 2 -v -timeout 15m $(OTHER_STAGES)
	$(GO) -C test test -short -count 1 -v -timeout 20m -run '$(E2E_MORE)' ./e2e

.PHONY: test-node
test-node: need-go ## Run the tests that need a real node, with a kubelet, and install a release on some: as root, where containerd is installed
	$(GO) -C test run ./cmd/lab build --real-nodes
	$(GO) -C test test -count 1 -p 1 -v -timeout 45m ./node/...

.PHONY: test-karmada
test-karmada: need-go ## Run our programs on a real Karmada control plane; builds Karmada's programs, for six minutes, the first time
	$(GO) -C test run ./cmd/lab build --karmada
	$(GO) -C test test -short -count 1 -v -timeout 20m ./karmadahub

# Each part by itself takes less than an hour. What is simulated or compared needs many rounds, and no race detector: the
# unit tests run the same code under it.
PARTS  ?= unit records dist monitoring oracle differential multidim distributed sim bench cmd api deploy admission sources membership install doctor dashboard restricted podsizes capacity lab node karmadahub skew shards e2e hostile fuzz
UNRACED = differential multidim distributed hostile

.PHONY: test-full
test-full: need-go ## Run everything in its long form, part by part; PARTS="unit e2e" are these two
	@$(SAY_RACE)
	$(GO) -C test run ./cmd/lab build --real-nodes --karmada
	@failed=; for part in $(PARTS); do began=$$(date +%s); echo "=== $$part"; \
	    if $(MAKE) full-$$part; then result=ok; else result=FAILED; failed="$$failed $$part"; fi; \
	    echo "=== $$part: $$result after $$(( $$(date +%s) - began )) s"; done; \
	    test -z "$$failed" || { echo "These parts failed:$$failed. One alone is run by: make test-full PARTS=NAME"; exit 1; }

.PHONY: full-unit
full-unit:
	$(GO) test $(RACE) -count 1 -timeout 1h ./...

# A million decisions, without the race detector.
full-records:
	$(GO) test -run RecordsAreDecided -count 1 -timeout 1h ./pkg/recording

# What members may send, and files of records, is decoded by these; FUZZTIME is for each of them.
FUZZED   ?= $(addprefix pkg/members/,usage relay mirror) pkg/recording
FUZZTIME ?= 20s

full-fuzz:
	@set -e; for package in $(FUZZED); do $(GO) test -run '^$$' -fuzz '^FuzzHostile$$' -fuzztime $(FUZZTIME) -timeout 10m ./$$package; done

full-dist:
	$(GO) -C tools/dist test -count 1 -v -timeout 1h ./...

full-monitoring:
	$(GO) -C tools/monitoring test -count 1 -v -timeout 1h ./...

# Builds the control planes of other minor versions first, some eight minutes each, if they are not there yet.
full-skew:
	$(GO) -C test run ./cmd/lab build $(addprefix --kubernetes=,$(notdir $(wildcard test/kubernetes/*)))
	$(GO) -C test test $(RACE) -count 1 -v -timeout 1h ./skew

full-oracle:
	$(GO) -C test/oracle test -count 1 -v -timeout 1h ./...

full-%:
	$(GO) -C test test $(if $(filter $*,$(UNRACED)),,$(RACE)) -count 1 -p 1 -v -timeout 1h ./$*/...

# Ring 1, as far as it is tested beside the code, and the controllers.
PKGS ?= $(addprefix ./pkg/,replicas assignment memberhpa fit schedule sizes cronplan merge claims admission guard controllers/...)
N    ?= 40

.PHONY: mutants
mutants: need-go ## Break the code in N=40 ways, one at a time, and show which of them the tests miss; SEED=7, PKGS="./pkg/merge"
	$(GO) -C tools run ./mutate -C $(CURDIR) -n $(N) $(if $(SEED),-seed $(SEED)) $(PKGS)

# Nothing else should run meanwhile. The report is for a person to review, and to commit or not.
.PHONY: bench
bench: need-go ## Measure all, beside its peers, and write the report into bench/; takes an hour and three quarters
	$(GO) -C test run -buildvcs=true ./bench --out $(CURDIR)/bench

.PHONY: bench-quick
bench-quick: need-go ## Measure a part of it, in a quarter of an hour, into bin/bench-quick/
	$(GO) -C test run -buildvcs=true ./bench --quick --out $(CURDIR)/bin/bench-quick

# Each piece has processes of its own, and stays when it is done: what was interrupted continues with the next one.
PIECES ?= 48

.PHONY: soak
soak: need-go ## Faults at random for a day: PIECES=48 half hours, each into bin/soak/; one that is there is not done again
	@for i in $$(seq $(PIECES)); do \
		[ -e bin/soak/$$i/soak.json ] || { echo "soak: piece $$i of $(PIECES), half an hour" && \
			$(GO) -C test run -buildvcs=true ./bench --only soak --out $(CURDIR)/bin/soak/$$i; } || exit 1; \
	done
	@! grep '| no\(:\| |\)' bin/soak/*/soak.md || { echo 'soak: what these rows say was to be reached and was not' >&2; exit 1; }

.PHONY: bench-micro
bench-micro: need-go ## Measure packages by themselves: memory, answers, admissions and decisions
	$(GO) test -run '^$$' -bench . -benchmem -timeout 1h ./pkg/...
	$(GO) -C test test -run '^$$' -bench . -timeout 1h ./differential/...
	$(GO) -C test/oracle test -run '^$$' -bench . -timeout 1h ./...

##-- Keep the house

# All modules with code of ours. test/kubernetes/* have none, and test/karmada has one import: what they require takes minutes to compile.
# Most of what test/certmanager requires is of the versions that test/ has, and compiled for that.
MODULES = . test test/oracle test/certmanager tools tools/dist tools/monitoring

.PHONY: lint
lint: need-go ## Check the code against the rules of .golangci.yml, with go vet, every text for words that we do without, and the licences of what is linked
	@$(GOLANGCI_LINT)
	$(GO) -C tools run ./words $(CURDIR)
	$(GO) -C tools run ./licences $(CURDIR)
	@set -e; for module in $(MODULES); do echo "lint $$module"; $(GO) -C $$module vet ./...; (cd $$module && $(TOOLS)/golangci-lint run); done

.PHONY: vulns
vulns: need-go ## Search what the programs call for known vulnerabilities, where their database can be reached
	@$(GOVULNCHECK)
	$(GO) -C tools run ./vulns $(TOOLS)/govulncheck $(CURDIR)

.PHONY: generate
generate: need-go ## Write the generated files again: code, CustomResourceDefinitions, docs/api.md, docs/cli.md, docs/metrics-reference.md, dashboards
	@$(OPENAPI_GEN)
	@$(CONTROLLER_GEN)
	@$(call GENERATE,$(CURDIR))

.PHONY: verify
verify: need-go ## Check that files are formatted, generated ones current, and go.mod tidy; changes nothing
	@$(OPENAPI_GEN)
	@$(CONTROLLER_GEN)
	@echo "Checking the format ..."
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) || exit 1; test -z "$$unformatted" || { echo "Not formatted; run gofmt -w on:" $$unformatted; exit 1; }
	@echo "Checking the generated files ..."
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; $(call GENERATE,$$fresh); \
	    for file in $(GENERATED); do diff -u $$file $$fresh/$$file || { echo "Not current; run make generate."; exit 1; }; done
	@$(GO) -C tools test ./...
	@for module in . test test/oracle test/certmanager test/karmada tools tools/dist tools/monitoring; do echo "Checking $$module/go.mod ..."; \
	    $(GO) -C $$module mod tidy -diff || { echo "Not tidy; run go -C $$module mod tidy."; exit 1; }; done
