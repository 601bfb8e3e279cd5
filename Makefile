# make run     installs what is missing, builds, and runs the exporter on its simulated feed
# make live    the same with real data for twelve cities, from Open-Meteo, which needs no key
# make test    installs what is missing, and runs all tests but those of image and packages (make docker)
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# SwiftPM locks its build directory, and tests with time limits must not run during a build.
.NOTPARALLEL:

# Debian packages needed for building, additional ones for the tests, and those for container and packaging targets.
BUILD_PACKAGES := libwebsockets-dev libmicrohttpd-dev libgnutls28-dev zlib1g-dev libisal-dev libcrypt-dev \
	libyaml-dev libsqlite3-dev libsimdjson-dev libcurl4-openssl-dev libjq-dev
TEST_PACKAGES := prometheus prometheus-alertmanager victoria-metrics python3-venv curl jq openssl gzip docker-compose \
	chromium chromium-driver fonts-inter help2man man-db mandoc groff
CONTAINER_PACKAGES := buildah podman runc debootstrap netavark aardvark-dns containernetworking-plugins
PACKAGING_PACKAGES := debhelper dpkg-dev help2man lintian piuparts python3

# From `git describe`: 1.2.0 at the tag, 1.2.0-5-gfe6ec4c five commits later, or just the commit if there is no tag.
VERSION ?= $(patsubst v%,%,$(shell git describe --tags --match 'v[0-9]*' --always --abbrev=12 --dirty 2>/dev/null))

# Compiled into the programs by the build plugin BuildVersion.
export AIRQUALITY_BUILD_VERSION ?= $(VERSION)
export AIRQUALITY_BUILD_REVISION ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
export AIRQUALITY_BUILD_BRANCH ?= $(shell git rev-parse --abbrev-ref HEAD 2>/dev/null)

# Reproducible in any folder, including the build ID, a hash of the program: the debug information contains neither the
# folder's path, nor names from Clang's module cache, nor hashes of modules. The first matching prefix map applies.
HERE := $(CURDIR)=.
PLUGINS := .build/plugins/outputs
OF_PLUGINS := $(CURDIR)/$(PLUGINS)/$(shell basename "$(CURDIR)" | tr A-Z a-z)=./$(PLUGINS)
RELEASE := swift build --configuration release --static-swift-stdlib --disable-local-rpath \
	-Xswiftc -file-prefix-map -Xswiftc "$(OF_PLUGINS)" -Xswiftc -file-prefix-map -Xswiftc "$(HERE)" \
	-Xswiftc -file-compilation-dir -Xswiftc . \
	$(foreach flag,-no-clang-module-breadcrumbs -disable-incremental-llvm-codegen,-Xswiftc -Xfrontend -Xswiftc $(flag)) \
	-Xcc "-ffile-prefix-map=$(HERE)" -Xcxx "-ffile-prefix-map=$(HERE)"
VENV := .venv
PYTHON := $(VENV)/bin/python

.PHONY: help
help:
	@sed -nE 's/^# (make [a-z0-9-]+( [A-Z_]+=[^ ]+)?) +/\1\t/p' Makefile | expand --tabs 28

.PHONY: toolchain
toolchain:
	@command -v swift >/dev/null || \
		{ echo "swift is not installed: get Swift 6.3 for Debian 12, which also runs on 13, at https://www.swift.org/install/linux/" >&2; exit 1; }

# Installs the Debian packages of $(1) that are missing.
define install
	@missing=$$(for package in $(1); do \
		dpkg-query --show --showformat='$${db:Status-Status}' "$$package" 2>/dev/null | grep -qx installed || echo "$$package"; \
	done); \
	if [ -n "$$missing" ]; then \
		echo "installing" $$missing; \
		root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
		$$root apt-get update -qq; \
		$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi
endef

.PHONY: deps test-deps
deps: toolchain
	$(call install,$(BUILD_PACKAGES))

test-deps: deps $(VENV)/installed
	$(call install,$(TEST_PACKAGES))

$(VENV)/installed: Tests/EndToEnd/requirements.txt
	$(call install,python3-venv)
	@/usr/bin/python3 -m venv --clear $(VENV)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# make build  builds both programs, in .build/release
.PHONY: build exporter
build: exporter
	$(RELEASE) --product air-quality-feed

exporter: deps
	$(RELEASE) --product air-quality-exporter

.PHONY: run
run: exporter
	@Tests/Tools/run-demo .build/release/air-quality-exporter

# Other data: make live INDEX=us POLL="--source waqi --key-file key --set capitals"
.PHONY: live
live: build
	@INDEX=$(INDEX) Tests/Tools/run-live .build/release $(POLL)

# The tests, cheapest first.
.PHONY: test lint unit packages end-to-end grafana
test: test-deps lint unit packages end-to-end

# make lint  checks formatting, and the rules of Tests/Gates
lint: toolchain
	git ls-files -z '*.swift' | xargs -0 swift format lint --strict --parallel
	Tests/Gates/modules
	Tests/Gates/comments
	Tests/Gates/packages
	Tests/Gates/reproducible

# make unit  runs the Swift tests
unit: test-deps
	swift build --build-tests --explicit-target-dependency-import-check error
	AIRQUALITY_TEST_PYTHON="$(CURDIR)/$(PYTHON)" swift test --skip-build --quiet
	for page in Tests/ExpositionTests/Golden/*.prom; do promtool check metrics <"$$page"; done

# Checks that the image installs the libraries that the programs link, and that builds are reproducible.
packages: build
	Tests/Gates/packages .build/release/air-quality-exporter .build/release/air-quality-feed
	Tests/Gates/reproducible .build/release/air-quality-exporter .build/release/air-quality-feed

# Number of pytest processes; most tests spend most of their time waiting.
WORKERS ?= 4
PYTEST := $(PYTHON) -m pytest --quiet -n $(WORKERS) --dist loadgroup

# make end-to-end TESTS=PATH  runs the end-to-end tests, or only those of a folder, a file or a test of Tests/EndToEnd
end-to-end: test-deps build
	$(PYTEST) $(or $(TESTS),Tests/EndToEnd) --programs .build/release || $(ALONE)

# Many tests have time limits, and WORKERS run at once, so failed tests get a second run, one at a time. What passes only
# then is named.
FLAKY := .build/flaky.txt
ALONE = { echo "what failed, once more, one test at a time"; $(PYTHON) -m pytest --quiet --last-failed --again $(FLAKY) \
	--last-failed-no-failures none $(or $(TESTS),Tests/EndToEnd) --programs .build/release; }

# make grafana  runs the end-to-end tests of dashboards and rules
grafana: test-deps build
	$(PYTEST) Tests/EndToEnd/grafana --programs .build/release

# make debian13  builds and tests on Debian 13, in a chroot under build/ (as root); TESTS=… selects end-to-end tests
.PHONY: debian13
debian13: toolchain
	Tests/Tools/debian13 --network make test-deps
	Tests/Tools/debian13 make packages unit end-to-end TESTS="$(or $(TESTS),Tests/EndToEnd)"

# make sanitize  runs unit and end-to-end tests under the thread, address and undefined behaviour sanitizers
.PHONY: sanitize sanitize-thread sanitize-address sanitize-undefined
sanitize: sanitize-thread sanitize-address sanitize-undefined

# The tests of program behaviour. AIRQUALITY_SLOW relaxes limits that only hold without a sanitizer.
SANITIZED := $(PYTEST) $(addprefix Tests/EndToEnd/,feed live page/test_events.py program storage web \
	$(addprefix hostile/test_,blocking_files.py connections.py log.py storage.py)) --programs
sanitize-thread sanitize-address sanitize-undefined: export AIRQUALITY_SLOW := 1

sanitize-thread: export TSAN_OPTIONS := suppressions="$(CURDIR)/Tests/thread-sanitizer.suppressions"
sanitize-thread: test-deps
	swift test --sanitize=thread --scratch-path .build-thread --quiet
	swift build --sanitize=thread --scratch-path .build-thread
	$(SANITIZED) .build-thread/debug

# The leak checker reports memory of the test runner. A small quarantine keeps the tests of memory growth valid.
sanitize-address: export ASAN_OPTIONS := detect_leaks=0:quarantine_size_mb=8
sanitize-address: test-deps
	swift test --sanitize=address --scratch-path .build-address --quiet
	swift build --sanitize=address --scratch-path .build-address
	$(SANITIZED) .build-address/debug

# For C and C++ only, mainly the inline functions in the modules of C libraries: Swift on Linux does not support this
# sanitizer, and traps on its own checks. Undefined behaviour raises SIGILL.
UNDEFINED := --scratch-path .build-undefined $(foreach language,-Xcc -Xcxx,\
	$(language) -fsanitize=undefined $(language) -fsanitize-trap=undefined)
sanitize-undefined: test-deps
	swift test $(UNDEFINED) --quiet
	swift build $(UNDEFINED)
	$(SANITIZED) .build-undefined/debug

# make soak      runs exporter, feeds and Prometheus under faults for SOAK_MINUTES (60) and prints a table
# make kills     kills the exporter under load KILLS times (100) and counts lost data
.PHONY: soak kills
soak kills: test-deps build

soak: SOAK_MINUTES ?= 60
soak:
	$(PYTHON) Tests/Tools/soak --minutes $(SOAK_MINUTES) --programs .build/release

kills: KILLS ?= 100
kills:
	AIRQUALITY_KILLS=$(KILLS) $(PYTHON) -m pytest --quiet --capture=no --timeout 0 \
		Tests/EndToEnd/storage/test_kills.py --programs .build/release

# make pictures  takes the README's screenshots of the page
.PHONY: pictures
pictures: test-deps build
	$(PYTHON) Tests/Tools/take-pictures --programs .build/release

# make fuzz  fuzzes each parser of external input for FUZZ_SECONDS (60) and prints a table
.PHONY: fuzz
fuzz: deps
	Tests/Fuzzing/run $(or $(FUZZ_SECONDS),60)

# make deb  builds the Debian package, in build/deb
.PHONY: deb release release-programs
deb: build
	$(call install,$(PACKAGING_PACKAGES))
	rm -rf build/deb
	docker/debian/build "$(VERSION)" .build/release build/deb

# make release VERSION=1.0.0  writes the files of a release to build/1.0.0; VERSION defaults to that of the tag
release: export AIRQUALITY_BUILD_BRANCH := HEAD
release: build
	$(call install,$(PACKAGING_PACKAGES))
	docker/release/build "$(VERSION)" .build/release "build/$(VERSION)"

# The release files for this machine's Debian.
release-programs: build
	$(call install,$(PACKAGING_PACKAGES))
	docker/release/programs "$(VERSION)" .build/release "$(OUTPUT)"

# make rules RUNBOOK_URL=URL  writes the rules, with a runbook_url in each alert, to build/rules
.PHONY: rules
rules: export RUNBOOK_URL := $(RUNBOOK_URL)
rules:
	grafana/rules/render build/rules

# make docker  tests the image, alone, with compose.yaml and under systemd; also deb-test and release-test (as root)
# A test waits for the images that it is the first to need, or for two releases, so its time limit is two hours.
CONTAINER_TESTS := $(PYTHON) -m pytest --verbose --capture=no --timeout 7200 -m container --programs .build/release
.PHONY: docker
docker: test-deps build
	$(call install,$(CONTAINER_PACKAGES))
	$(call install,$(PACKAGING_PACKAGES))
	$(CONTAINER_TESTS) Tests/EndToEnd/docker

# make deb-test      installs, upgrades, removes and purges the package on Debian 12 and 13; runs lintian (as root)
# make release-test  builds a release in two folders and compares them
.PHONY: deb-test release-test
deb-test: test-deps build
	$(call install,$(CONTAINER_PACKAGES) $(PACKAGING_PACKAGES))
	$(CONTAINER_TESTS) Tests/EndToEnd/docker/test_package.py

release-test: test-deps
	$(call install,$(PACKAGING_PACKAGES))
	$(CONTAINER_TESTS) Tests/EndToEnd/docker/test_release.py

# make bench  measures decoding, recording and rendering in isolation: time, and instructions against stored counts
# make instructions RECORD=1  stores those counts
.PHONY: bench instructions
bench: deps
	swift run --configuration release --package-path Tests/Benchmarks Benchmarks
	$(MAKE) instructions

instructions: deps
	$(call install,valgrind)
	Tests/Benchmarks/instructions $(if $(RECORD),--record)

.PHONY: format clean
format: toolchain
	git ls-files -z '*.swift' | xargs -0 swift format --in-place --parallel

clean:
	rm -rf .build .build-thread .build-address .build-undefined $(VENV) build Tests/Benchmarks/.build Tests/Fuzzing/.build
