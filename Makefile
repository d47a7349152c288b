# recrawl: build, test, lint. Needs Go and make; what else a target needs it
# builds from tools/ or installs, and says so.

GO         ?= go
BIN        := bin
LINT       := $(BIN)/lint
TEMPORAL   := $(BIN)/temporal
SERVER     := $(BIN)/temporal-server
COMPOSE    := $(BIN)/compose-config
S3SERVER   := $(BIN)/versitygw
PROMETHEUS := $(BIN)/prometheus
RELEASER   := $(BIN)/release-config
WARCIO     := tools/warcio/node_modules/.package-lock.json
REPLAY     := tools/replay/node_modules/.package-lock.json
AXE        := tools/browser/node_modules/.package-lock.json
COMMIT     ?= $(shell git describe --always --exclude '*' --dirty 2>/dev/null)
LDFLAGS    := -X recrawl/internal/config.Commit=$(COMMIT)
export CGO_ENABLED ?= 0
export RECRAWL_TEMPORAL_CLI ?= $(CURDIR)/$(TEMPORAL)

.PHONY: record-release build demo docs policies-tables test test-packages test-e2e test-quick test-busy test-long bench bench-programs bench-visits bench-peers bench-docs bench-scale pages-changes lint fmt packages temporal temporal-server compose-config s3-server warcio axe replay pictures record clean install cross release-config prometheus

build: temporal
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/starter ./starter
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/worker ./worker

# For all users of this machine: make build, and then, as root, make install. PREFIX and
# DESTDIR are those of other packages; the units get the former.
PREFIX  ?= /usr/local
INSTALL ?= install
UNITS   := deploy/systemd/recrawl-worker.service deploy/systemd/recrawl-web.service
# As they lie here, so that their links lead somewhere.
PAGES   := README.md CHANGELOG.md SECURITY.md LICENSE docker-compose.yml $(shell find docs deploy examples -type f)

install:
	@[ -x $(BIN)/starter ] && [ -x $(BIN)/worker ] || { echo "there is nothing to install: run make build first"; exit 1; }
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/doc/recrawl $(DESTDIR)/etc/systemd/system
	for file in $(PAGES); do $(INSTALL) -D -m 0644 $$file $(DESTDIR)$(PREFIX)/share/doc/recrawl/$$file; done
	$(INSTALL) -d -m 0700 $(DESTDIR)/etc/recrawl
	$(INSTALL) -m 0755 $(BIN)/starter $(BIN)/worker $(DESTDIR)$(PREFIX)/bin/
	for unit in $(UNITS); do sed 's|/usr/local|$(PREFIX)|g' $$unit > $(DESTDIR)/etc/systemd/system/$${unit##*/} && chmod 0644 $(DESTDIR)/etc/systemd/system/$${unit##*/}; done
	$(INSTALL) -m 0600 deploy/systemd/worker.env.example $(DESTDIR)/etc/recrawl/

# That it builds for what a release is made for, and this machine is not.
CROSS := linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
cross:
	@set -e; for target in $(CROSS); do echo "building for $$target …"; GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0 $(GO) build ./...; done

# GoReleaser's own reading of .goreleaser.yaml.
release-config: $(RELEASER)

$(RELEASER): tools/release/go.mod tools/release/go.sum tools/release/main.go
	cd tools/release && GOFLAGS= $(GO) build -o ../../$(RELEASER) .

# Temporal's SDK, a part of Temporal's server, reads its whole program at each start to name the
# build by a checksum: a third of what a start takes. From outside, a name can be given only so.
BUILDNAME = -X go.temporal.io/sdk/internal.binaryChecksum=$$($(GO) list -m -f '{{.Version}}' $(1))

temporal: $(TEMPORAL)

$(TEMPORAL): tools/temporal/go.mod tools/temporal/go.sum
	@echo "building the Temporal CLI once from tools/temporal (about 5 minutes on 2 cores) …"
	@start=$$(date +%s); cd tools/temporal && export GOFLAGS= && \
	  $(GO) build -ldflags "$(call BUILDNAME,go.temporal.io/server)" -o ../../$(TEMPORAL).building github.com/temporalio/cli/cmd/temporal && \
	  cd ../.. && mv $(TEMPORAL).building $(TEMPORAL) && echo "built $(TEMPORAL) in $$(( $$(date +%s) - start )) s"

# The Temporal server of a cluster and its schema tool, which the tests run as
# docker-compose.yml does. Both carry their configuration template and schemas
# inside: the environment is all that they read besides.
temporal-server: $(SERVER)

$(SERVER): tools/temporal-server/go.mod tools/temporal-server/go.sum
	@echo "building the Temporal server once from tools/temporal-server (about 4 minutes on 2 cores) …"
	@start=$$(date +%s); cd tools/temporal-server && export GOFLAGS= && \
	  $(GO) build -o ../../$(BIN)/temporal-sql-tool go.temporal.io/server/cmd/tools/sql && \
	  $(GO) build -ldflags "$(call BUILDNAME,go.temporal.io/server)" -o ../../$(SERVER).building go.temporal.io/server/cmd/server && \
	  cd ../.. && mv $(SERVER).building $(SERVER) && echo "built $(SERVER) in $$(( $$(date +%s) - start )) s"

# Compose's own parser, to check docker-compose.yml without Docker.
compose-config: $(COMPOSE)

$(COMPOSE): tools/compose/go.mod tools/compose/go.sum tools/compose/main.go
	cd tools/compose && GOFLAGS= $(GO) build -o ../../$(COMPOSE) .

# Prometheus and promtool, which try the alert rules and the board. Of its ways to find
# whom to scrape it has the one of deploy/prometheus/prometheus.yml.
prometheus: $(PROMETHEUS)

$(PROMETHEUS): tools/prometheus/go.mod tools/prometheus/go.sum
	@echo "building Prometheus once from tools/prometheus (about 5 minutes on 2 cores) …"
	cd tools/prometheus && export GOFLAGS= && \
	  $(GO) build -tags remove_all_sd,enable_dns_sd -o ../../$(BIN)/promtool github.com/prometheus/prometheus/cmd/promtool && \
	  $(GO) build -tags remove_all_sd,enable_dns_sd -o ../../$(PROMETHEUS).building github.com/prometheus/prometheus/cmd/prometheus
	mv $(PROMETHEUS).building $(PROMETHEUS)

# An S3 server, Versity's gateway to a folder, that the archive's tests run.
s3-server: $(S3SERVER)

$(S3SERVER): tools/versitygw/go.mod tools/versitygw/go.sum
	@echo "building an S3 server once from tools/versitygw (about a minute on 2 cores) …"
	cd tools/versitygw && GOFLAGS= $(GO) build -o ../../$(S3SERVER).building github.com/versity/versitygw/cmd/versitygw
	mv $(S3SERVER).building $(S3SERVER)

# Webrecorder's WARC reader, which reads our exports in a test.
warcio: $(WARCIO)

$(WARCIO): tools/warcio/package.json tools/warcio/package-lock.json | packages
	cd tools/warcio && npm ci --ignore-scripts --no-audit --no-fund

# Webrecorder's player of web archives, for `starter replay`: beside the programs, with its
# licence, which is not ours.
replay: $(BIN)/replay/sw.js

$(BIN)/replay/sw.js: $(REPLAY)
	mkdir -p $(BIN)/replay
	cp tools/replay/node_modules/@webrecorder/wabac/LICENSE.md tools/replay/node_modules/@webrecorder/wabac/dist/sw.js $(BIN)/replay/

$(REPLAY): tools/replay/package.json tools/replay/package-lock.json | packages
	cd tools/replay && npm ci --ignore-scripts --no-audit --no-fund

# axe-core, which judges the page for operators in a test.
axe: $(AXE)

$(AXE): tools/browser/package.json tools/browser/package-lock.json | packages
	cd tools/browser && npm ci --ignore-scripts --no-audit --no-fund

# See it work: a small web of our own on this machine and a crawl of it, in a data
# folder of its own. `make demo ARGS="--for 90s"` ends by itself.
demo: build
	$(BIN)/starter --data data/demo dev --demo $(ARGS)

# Make the pages of docs/ that are made of the types, or of figures on them, and the
# description of the API, after a change of these.
docs:
	RECRAWL_UPDATE=1 $(GO) test -count=1 -run 'TestSpecDoc' ./internal/crawl/
	RECRAWL_UPDATE=1 $(GO) test -count=1 -run 'TestSizingPage' ./internal/bench/sizing/
	$(GO) test -count=1 -run 'TestOpenAPIFile' ./internal/web/ -update

# Measure the policies again: the tables of docs/policies.md and their plots, in about
# three quarters of an hour. TRACES is a folder of recorded changes (docs/simulate.md). Then see that no
# policy is worse than uniform on them.
policies-tables:
	@[ -d "$(TRACES)" ] || { echo "make policies-tables TRACES=DIR: the folder of the traces, see docs/simulate.md"; exit 1; }
	RECRAWL_TRACES=$(abspath $(TRACES)) $(GO) test -tags measure -count=1 -timeout 4h -v -run TestMeasurePolicies ./internal/cli/
	RECRAWL_TRACES=$(abspath $(TRACES)) $(GO) test -count=1 -timeout 4h -v -run '^TestNoWorseThanUniformTraces$$' ./internal/sim/

# Take the pictures of docs/images/web again, of every view of the page for operators.
pictures: temporal axe packages
	@mkdir -p docs/images/web && rm -f docs/images/web/*.webp
	RECRAWL_PICTURES=$(CURDIR)/docs/images/web $(GO) test -count=1 -run '^TestBrowser$$' $(E2E)

# What the tests need besides Go; see the script.
packages:
	@.ci/need-packages

# The race detector needs cgo, and so a C compiler; without one the tests run
# without it and say so. SQLite is C, translated to Go, that keeps its memory outside
# of Go's: the detector finds nothing there, and made its tests take ten times as long.
RACE := $(shell CGO_ENABLED=1 $(GO) env CC >/dev/null 2>&1 && command -v $$($(GO) env CC) >/dev/null 2>&1 && \
	echo -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false)

# Packages that have more than one goroutine, they or their tests: only there can the
# race detector, which makes everything slow, find something. A value that is made once
# (sync.OnceValue) is no sign of one. ./internal/e2e runs built programs, which it does not watch.
E2E = ./internal/e2e
# Of duplicates, only a benchmark has a second one. Temporal's SDK runs a workflow's coroutines
# one at a time, and workflowcheck keeps goroutines out of them. Nearly all tests of the activities
# and of the commands call one after the other; those in WATCHED do not, or what they call has a
# second goroutine.
ONLYONE = ./internal/maintain/duplicates ./workflows $(PARTLY)
PARTLY  = ./activities ./internal/cli
WATCHED = $(subst $() ,|,$(shell awk -F '[^A-Za-z0-9_]+' '/^func Test/ {print $$2}' internal/cli/changes_test.go \
	$(patsubst %,activities/%_test.go,deliver fetch fetch_finish foreign handover maintain_running room view)))
RACED = $(filter-out $(E2E) $(ONLYONE),$(shell grep -rlE --include='*.go' '^[[:space:]]+go [a-z]|\.Go.func|sync\.(Mutex|RWMutex|WaitGroup|Cond|Map|Pool|Once\>)|"sync/atomic"|"net/http/httptest"' \
	activities internal starter worker workflows | xargs -n1 dirname | sort -u | sed 's|^|./|'))
PLAIN = $(filter-out $(E2E) $(RACED),$(patsubst recrawl/%,./%,$(shell $(GO) list ./...)))
# The seed of the property tests. `make test` has them draw the same cases in each run, so that a
# change is judged by what it changed; `make test-long`, and `go test` by hand, draw others (0).
# What these find becomes a case of its own.
SEED := 1
# How many cases each draws: fewer where they are the same in each run.
CHECKS := 50
# The longest go first, so that none of them runs on alone in the end.
FIRST = ./internal/store/postgres ./internal/temporalkit ./internal/sim ./internal/change ./internal/store/sqlite ./activities ./workflows \
	./internal/fetch ./internal/cli ./internal/web ./internal/bench/visits ./internal/app ./internal/export ./internal/extract ./internal/sink/folder ./internal/schedule
longest = $(filter $(1),$(FIRST)) $(filter-out $(FIRST),$(1))
# Packages at a time: one more than there are cores, for some wait for servers of theirs.
ATONCE  = $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)
# Of one package: a test that hangs must not hide what the others say.
LIMIT    := 40m
E2ELIMIT := 50m

# Tests of RACED packages that go without the race detector: long computations of one goroutine,
# of whose code nothing runs that does not in other tests of their packages too (TestCollectionAtOnce
# runs the cases of TestCollection that ask at once), and those in a bubble of synctest, where the
# detector itself dies now and then ("ThreadSanitizer: CHECK failed", golang.org/issue/78156).
# Other packages run all their tests at once. In `make test-long` the detector watches all but the
# bubbles.
LONG    := TestTimersMeetTheBudget TestHostPrices TestOutlookIsSimulated \
	TestFullHosts TestNoWorseThanUniform TestNoWorseThanUniformRecorded TestNoWorseThanUniformTraces TestCalibrated \
	TestWhatLearningTakes TestWhatMaxIntervalCosts TestOptimaAgreeWithFormulas \
	TestTimetables TestTimetablesPay TestOfficeHours TestSelectiveSavesDownloads TestWorlds TestModes TestPriceOfLearning \
	TestWorkedExamples TestPlots TestPlotBudgets TestCollection \
	TestFlat TestOverdue TestEraseLeavesNoTrace TestDeleteLeavesNoRow TestForgetIsTakenUpAgain TestTimelineHoldsEveryLife
BUBBLED := $(shell grep -rl --include='*_test.go' 'synctest[.]Test' internal | \
	xargs awk -F '[^A-Za-z0-9_]+' '/^func Test/ {name = $$2} /synctest[.]Test/ {print name}' | sort -u)
ALONE    = $(subst $() ,|,$(strip $(LONG) $(BUBBLED)))
ALONEIN  = $(shell grep -rlE --include='*_test.go' '^func ($(ALONE))\>' activities internal workflows | \
	xargs -n1 dirname | sort -u | sed 's|^|./|')

# go vet is part of make lint: here it would read all dependencies again, once for each set of
# flags.
NOVET := -vet=off

# Where the tests keep their files: in memory, if there is enough of it; the script says more.
SCRATCH = .ci/in-memory

# Their heaps are small, and Go collects a small one often: with this the packages' tests take a
# twelfth less processor time, and at most 0.2 GB more, and so do the programs of the end-to-end
# tests. Tests of their memory undo it, and `make test-long` runs the programs as users do.
COLLECT := 400
test-packages: export GOGC := 400
test-e2e: export GOGC = $(COLLECT)

# Everything, see CONTRIBUTING.md: first what burns the cores, then, with nothing beside it, what runs the
# programs and mostly waits. `make -k test` goes on after a failure of the first part.
test: test-packages test-e2e

test-packages: export RAPID_SEED = $(SEED)
test-packages: export RAPID_CHECKS = $(CHECKS)
test-packages: compose-config temporal temporal-server s3-server packages warcio axe replay release-config prometheus
	@[ -n "$(RACE)" ] || echo "no C compiler: running without the race detector"
	@failed=0; \
	  (set -x; CGO_ENABLED=$(if $(RACE),1,0) $(SCRATCH) $(GO) test $(NOVET) $(RACE) -p $(ATONCE) -timeout $(LIMIT) -skip '^($(ALONE))$$' $(call longest,$(RACED))) || failed=1; \
	  $(if $(PARTLY),(set -x; CGO_ENABLED=$(if $(RACE),1,0) $(SCRATCH) $(GO) test $(NOVET) $(RACE) -timeout $(LIMIT) -run '^($(WATCHED))$$' $(PARTLY)) || failed=1;) \
	  (set -x; $(SCRATCH) $(GO) test $(NOVET) -p $(ATONCE) -timeout $(LIMIT) $(call longest,$(PLAIN))) || failed=1; \
	  (set -x; $(SCRATCH) $(GO) test $(NOVET) -p $(ATONCE) -timeout $(LIMIT) -run '^($(ALONE))$$' $(call longest,$(filter $(RACED),$(ALONEIN)))) || failed=1; \
	  exit $$failed

# End-to-end tests side by side, the longest and the shortest first. Each mostly waits; so there are more than
# cores, and no more than the memory of a small machine holds, half a gigabyte each.
SIDEBYSIDE ?= 5

# The tests build the programs themselves, as everybody's `go build` does.
test-e2e: temporal temporal-server compose-config s3-server packages axe prometheus
	$(SCRATCH) $(GO) test $(NOVET) -timeout $(E2ELIMIT) -parallel $(SIDEBYSIDE) $(E2E)

# What needs no server and no other program and takes no long computation, without the
# race detector: under a minute on two quiet cores, once Go has built it.
test-quick: compose-config
	$(GO) test -short ./...

# No verdict may depend on how busy the machine is: all tests anew, RUNS times (10) in a row, beside
# busy loops that take half of each core. An hour for each run.
test-busy:
	.ci/busy $(MAKE) -k test NOVET='$(NOVET) -count=1'

# Big sites, crash runs and year-long lives: tens of minutes, and before them an hour of
# chaos at overload, whose length RECRAWL_CHAOS_LENGTH changes (10m). With RECRAWL_TRACES, a
# folder of recorded changes, also the policies on all of them.
test-long: export RECRAWL_LONG := 1
test-long: PARTLY :=
test-long: LONG :=
test-long: SCRATCH :=
test-long: LIMIT := 240m
test-long: SEED := 0
test-long: CHECKS := 200
test-long: COLLECT :=
test-long: E2ELIMIT := 240m
test-long: test

bench: build packages
	$(GO) test -run '^$$' -bench . -benchmem -timeout 60m ./...

# Benchmarks of the running programs, for a quiet machine with Linux: docs/benchmarks.md.
# ARGS go to the program: `make bench-visits ARGS=-quick` shows that it works, ARGS=-h
# lists the settings.
BENCH    := $(BIN)/bench
COUNTING := $(BIN)/counting
COLLY    := $(BIN)/colly

# The programs themselves, the same with counters in the store, and what measures them.
bench-programs: build
	@mkdir -p $(COUNTING)
	$(GO) build -trimpath -tags counts -o $(COUNTING)/ ./starter ./worker
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BENCH) ./internal/bench/cmd/bench

# What a visit costs. Needs Postgres' server programs, as the tests do; fsyncs of SQLite
# are counted if strace is there (apt-get install strace).
bench-visits: bench-programs temporal-server compose-config packages
	$(BENCH) visits -counting $(COUNTING) $(ARGS)

# The first pass over a site, beside other crawlers. Those that are not there are left out:
# apt-get install wget python3-scrapy. colly is built from tools/colly.
bench-peers: bench-programs $(COLLY)
	$(BENCH) peers -colly $(COLLY) $(ARGS)

$(COLLY): tools/colly/go.mod tools/colly/go.sum tools/colly/main.go
	cd tools/colly && GOFLAGS= $(GO) build -o ../../$(COLLY) .

# Both, and their tables into docs/benchmarks.md.
bench-docs: bench-programs temporal-server compose-config packages $(COLLY)
	$(BENCH) visits -counting $(COUNTING) -docs docs/benchmarks.md $(VISITS)
	$(BENCH) peers -colly $(COLLY) -docs docs/benchmarks.md $(PEERS)

$(LINT)/%: tools/lint/go.mod tools/lint/go.sum
	@mkdir -p $(LINT)
	cd tools/lint && GOFLAGS= $(GO) build -o ../../$(LINT)/ go.temporal.io/sdk/contrib/tools/workflowcheck honnef.co/go/tools/cmd/staticcheck mvdan.cc/gofumpt

# First passes over 500 hosts of 200 pages and 20 of 5000, pages that sleep, and a start with
# everything overdue: the curves and tables of docs/benchmarks-scale.md, in an hour to an hour
# and a half on a quiet machine. `make bench-scale SCALE=-quick` shows in three minutes that it
# works, and leaves docs/ alone; `SCALE=-h` lists the sizes.
SCALE ?= -page docs/benchmarks-scale.md
bench-scale: build
	$(GO) build -o $(BIN)/bench-scale ./internal/bench/scale
	$(BIN)/bench-scale -programs $(BIN) $(SCALE)

# How snapshots of real pages are judged: docs/benchmarks-pages.md. PAGES is a folder of them;
# ARGS go to the program, as in ARGS="-verdicts FILE -against FILE". First its own tests.
pages-changes:
	@[ -n "$(PAGES)" ] || { echo "name the folder of pages: make pages-changes PAGES=FOLDER"; exit 1; }
	cd tools/extracteval && GOFLAGS= $(GO) test . && GOFLAGS= $(GO) run . changes -pages $(abspath $(PAGES)) $(ARGS)

lint: $(LINT)/staticcheck
	@unformatted=$$($(LINT)/gofumpt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "gofumpt would change:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags measure ./internal/cli/
	$(GO) vet -tags record ./internal/e2e
	$(GO) vet -tags counts ./internal/store/sqlstore
	$(LINT)/staticcheck ./...
	$(LINT)/workflowcheck -config workflowcheck.config.yaml ./workflows/...

fmt: $(LINT)/gofumpt
	$(LINT)/gofumpt -w $$(git ls-files '*.go')

# Record the workflows' histories, into the folder of this release, when workflows have
# learned something new. Those of earlier releases stay: crawls of theirs are under way.
record: temporal
	$(GO) test ./workflows -count 1 -run TestHistories -record

# The data folder of a crawl that the last release was killed in the middle of. At each
# release: make record-release LAST_RELEASE=0.2.0 LAST_COMMIT=…
LAST_RELEASE := 0.1.0
LAST_COMMIT  := 48b79df77364a2c888cbb98c5c3b824c6c9bcf3c
record-release: temporal
	tools/record-release.sh $(LAST_COMMIT) $(LAST_RELEASE)

clean:
	rm -rf $(BIN) tools/warcio/node_modules tools/browser/node_modules tools/replay/node_modules
