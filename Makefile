# The whole life of the project, short enough to read. Everything is built by CMake and Ninja in build*/.
BUILD ?= build
PREFIX ?= /usr/local
export CCACHE_SLOPPINESS ?= pch_defines,time_macros# for precompiled headers
CONFIGURE = cmake -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
            -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-19 -Wno-dev --log-level=NOTICE
# A build from nothing takes several files as one, which is faster; `make` alone compiles each by itself, for those who edit.
BUILT = $(CONFIGURE) $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DTOMOS_TOGETHER=ON) -S . -B $(BUILD) && ninja -C $(BUILD) --quiet
INSTALLED = tomos clang tomos-cc tomos_pass manual
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.h')

.PHONY: all built setup demo test tables bench soak install deb format lint clean
.DEFAULT_GOAL := all

setup:
	@scripts/setup

all: setup
	@$(CONFIGURE) -DTOMOS_TOGETHER=OFF -S . -B $(BUILD) && ninja -C $(BUILD) --quiet

built: setup
	@$(BUILT)

# Only what it shows: a newcomer is waiting.
demo: setup
	@$(BUILT) tomos tomos-cc tomos_pass
	@scripts/demo

# What goes to users, without tests and benchmarks. DESTDIR is put before PREFIX.
install: setup
	@$(BUILT) $(INSTALLED)
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX) >$(BUILD)/install.log
	@echo "Installed in $(DESTDIR)$(PREFIX)"

deb: setup
	@$(BUILT) $(INSTALLED)
	@cpack -G DEB --config $(BUILD)/CPackConfig.cmake -B $(BUILD)/deb

test: built lint
	@scripts/test

# The tables of the papers beside ours.
tables: setup
	@$(BUILT) tomos clang
	@tests/tm/table.py --tomos $(BUILD)/tomos

bench: built
	@ninja -C $(BUILD) --quiet bench_programs
	@bench/run
	@scripts/setup packages-bench.txt && bench/model

soak: all
	@scripts/soak

format: setup
	@clang-format-19 -i $(SOURCES)

lint: built
	@clang-format-19 --dry-run --Werror $(SOURCES)
	@scripts/lint $(BUILD)

clean:
	rm -rf build build-*
