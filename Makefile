# SPDX-License-Identifier: Apache-2.0
# What people do with a checkout. Everything else: cmake --list-presets.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BUILD := build/release
REPORT := $(BUILD)/src/cli/kwhy report examples/recordings/decode.kwhy

.PHONY: demo check check-lab check-all check-long check-aarch64 fuzz soak install release clean setup-build setup-check setup-release configure configure-lab

demo: setup-build configure
	cmake --build $(BUILD) --parallel $(JOBS) --target kwhy kwhy-inject
	mkdir -p build/demo
	$(REPORT)
	@$(REPORT) -o build/demo/report.json && echo "The same report as data: build/demo/report.json"
	@! $(REPORT) -o build/demo/report.html || echo "and as a page for a browser: build/demo/report.html"

# All but the tests of the reference workloads (check-lab) and the slow ones; lint of what changed.
check: setup-check configure
	cmake --build $(BUILD) --parallel $(JOBS)
	JOBS=$(JOBS) scripts/run-tests $(BUILD) --label-exclude '^(lab|slow|long)$$'

check-lab: setup-check configure-lab
	cmake --build $(BUILD) --parallel $(JOBS) --target kwhy kwhy-inject lab/all
	JOBS=$(JOBS) scripts/run-tests $(BUILD) --label-regex '^lab$$'

# Both, and the slow ones: lint of the whole tree, the portable folder.
check-all: setup-check configure-lab
	cmake --build $(BUILD) --parallel $(JOBS)
	JOBS=$(JOBS) scripts/run-tests $(BUILD) --label-exclude '^(changed|long)$$'

# What takes too long for each change: gcc's analyser, and writers that are killed at many of their calls.
check-long: setup-check configure
	cmake --build $(BUILD) --parallel $(JOBS)
	JOBS=$(JOBS) scripts/run-tests $(BUILD) --label-regex '^long$$'

# The tests that run under qemu, of a build for aarch64.
check-aarch64: setup-check setup-release
	JOBS=$(JOBS) packaging/test-aarch64

# Every reader of files and of the network under libFuzzer, in turn: make fuzz MINUTES=60
MINUTES ?= 30
fuzz:
	@scripts/setup build dev
	scripts/fuzz $(MINUTES)

# record, serve, watch and llm on fakes, whose memory, descriptors and threads must stay flat: make soak MINUTES=60
soak: setup-build configure
	MINUTES=$(MINUTES) cmake --build $(BUILD) --parallel $(JOBS) --target soak

install: configure
	cmake --build $(BUILD) --parallel $(JOBS) --target installed
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)" --strip

# Every artefact of a release, in dist/: archive, wheel, .deb, .rpm, container, recipes (packaging/release).
release: setup-release
	packaging/release $(MACHINES)

clean:
	rm -rf build dist

setup-build:
	@scripts/setup build

setup-release:
	@scripts/setup build release

setup-check:
	@scripts/setup build check

configure:
	cmake --preset release -DKWHY_LAB=OFF

configure-lab:
	cmake --preset release -DKWHY_LAB=ON
