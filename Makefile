# Thin names for what the scripts do.
SOURCES = $(shell git ls-files --cached --others --exclude-standard 'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' 'bench/*.cc')
WITHOUT_XLA = $(filter-out src/compiler/%,$(filter %.cc,$(SOURCES)))

.PHONY: build test bench docs format tidy clean

build:  ## build/bin/hone and build/bin/hone-worker
	setup/install
	setup/build release hone hone-worker

test:  ## everything that ./test runs
	./test

bench:
	setup/install
	setup/build release
	@for bench in build/bin/*_bench; do [ ! -x "$$bench" ] || "$$bench" || exit 1; done

docs:  ## the parts of docs/ that are written by hone itself
	setup/install
	setup/build release hone hone-worker
	docs/generate

format:
	clang-format -i $(SOURCES)

tidy:  ## the agent side; XLA's headers take clang-tidy minutes a file
	clang-tidy -p build --quiet $(WITHOUT_XLA)

clean:
	rm -rf build build-* demo-out
