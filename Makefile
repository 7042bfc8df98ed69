# SPDX-License-Identifier: Apache-2.0
# The four things people do with a checkout. Everything else: cmake --list-presets.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BUILD := build/release
REPORT := $(BUILD)/src/cli/kwhy report examples/recordings/decode.kwhy

.PHONY: demo check install clean setup-build setup-check configure

demo: setup-build configure
	cmake --build $(BUILD) --parallel $(JOBS) --target kwhy kwhy-inject
	mkdir -p build/demo
	$(REPORT)
	@$(REPORT) -o build/demo/report.json && echo "The same report as data: build/demo/report.json"
	@! $(REPORT) -o build/demo/report.html || echo "and as a page for a browser: build/demo/report.html"

check: setup-check configure
	cmake --build $(BUILD) --parallel $(JOBS)
	ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure --no-tests=error --no-label-summary

install: configure
	cmake --build $(BUILD) --parallel $(JOBS) --target installed
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)" --strip

clean:
	rm -rf build

setup-build:
	@scripts/setup build

setup-check:
	@scripts/setup build check

configure:
	cmake --preset release
