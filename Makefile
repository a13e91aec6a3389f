# The two commands of the README, and what they need.
#
#   make demo      compile and run a real kernel, show the result
#   make test      build and pass all tests
#   make test-all  the same in Release, with sanitizers and with g++ 12; in
#                  Release with 2,000 kernels of each generator, not 200

SHELL := /bin/bash
.SHELLFLAGS := -eo pipefail -c
.DELETE_ON_ERROR:

JOBS ?= $(shell nproc)
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
PACKAGES := g++ cmake ninja-build ccache python3 \
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22 \
  zlib1g-dev libzstd-dev nlohmann-json3-dev libgtest-dev libbenchmark-dev zsh
SANITIZER_PACKAGES := libclang-rt-22-dev

.PHONY: demo test test-all test-preset configure build setup setup-sanitizers clean

demo: configure
	@cmake --build build -j $(JOBS) --target furiosa-opt-mlir furiosa-run furiosa-translate
	@tools/demo.sh build/bin examples/gemm_i8.mlir build/demo

test: build
	@python3 test/run-tests.py build

configure: setup
	@test -f build/build.ninja || cmake --preset default

build: configure
	@cmake --build build -j $(JOBS)

# Installs what is missing, and nothing where all is there.
setup:
	@missing=$$({ dpkg-query -W -f '$${Status} $${Package}\n' $(PACKAGES) 2>/dev/null || true; } \
	  | awk '$$1 == "install" && $$3 == "installed" {print $$4}' \
	  | sort | comm -13 - <(printf '%s\n' $(PACKAGES) | sort)); \
	if [ -n "$$missing" ]; then \
	  $(SUDO) apt-get update && \
	  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y --no-install-recommends $$missing; \
	fi

setup-sanitizers: setup
	@$(MAKE) --no-print-directory setup PACKAGES="$(SANITIZER_PACKAGES)"

test-all: setup-sanitizers test
	@$(MAKE) --no-print-directory test-preset PRESET=release FURIOSA_GENERATED_CASES=2000
	@$(MAKE) --no-print-directory test-preset PRESET=sanitize
	@$(MAKE) --no-print-directory test-preset PRESET=gcc

test-preset:
	@cmake --preset $(PRESET)
	@cmake --build build-$(PRESET) -j $(JOBS)
	@python3 test/run-tests.py build-$(PRESET)

clean:
	rm -rf build build-release build-sanitize build-gcc
