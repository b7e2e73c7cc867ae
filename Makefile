# Thin names for what the scripts do.
SOURCES = $(shell git ls-files --cached --others --exclude-standard 'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' 'bench/*.cc')
WITHOUT_XLA = $(filter-out src/compiler/%,$(filter %.cc,$(SOURCES)))

.PHONY: build test bench docs format tidy clean

build:  ## build/bin/hone, build/bin/hone-worker, and the Python package for .venv/bin/python
	setup/install
	setup/build release hone hone-worker _core _core_stub

test:  ## everything that ./test runs
	./test

bench:
	setup/install
	setup/build release hone hone-worker _core bench
	build/bin/hone-bench pool
	build/bin/hone-bench env --seconds 30
	.venv/bin/python bench/env_bench.py --seconds 20

docs:  ## the parts of docs/ that hone writes of itself, and the site, links checked: build/site/index.html
	setup/install
	setup/build release hone hone-worker
	docs/generate
	setup/install --docs
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet --strict

format:
	clang-format -i $(SOURCES)

tidy:  ## the agent side; XLA's headers take clang-tidy minutes a file
	clang-tidy -p build --quiet $(WITHOUT_XLA)

clean:
	rm -rf build build-* demo-out
