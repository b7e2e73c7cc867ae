"""Checks what no compiler checks: who includes whom, and that the tree stays readable.

layering_test.py ROOT prints a line for each finding and fails where there is one. First it checks
itself, on a small tree with one breach of every rule.
"""

import fnmatch
import os
import re
import subprocess
import sys
import tempfile

# The table of folders: "| `src/NAME/` | idea | what it may include |", where the last is "nothing of
# ours", "all but A, B", or names, each with the headers in brackets where not all of them are meant.
TABLE = "docs/architecture.md"
TABLE_ROW = re.compile(r"^\| `src/(\w+)/` \|[^|]*\| ([^|]*) \|$", re.MULTILINE)
INCLUDED = re.compile(r"(\w+)(?: \(([^)]*)\))?")
XLA_HEADER = re.compile(r"^(xla|tensorflow|tsl|absl|mlir|llvm|google/protobuf)/")
# The interface of PJRT plugins, plain C that includes nothing of XLA's: for the program that runs them.
PLUGIN_HEADER = "xla/pjrt/c/pjrt_c_api.h"
PLUGIN_FOLDER = "src/device/plugin/"
# MLIR has an LLVM of its own, which must not meet XLA's: for the program that makes kernels.
MLIR_HEADER = re.compile(r"^(mlir|llvm)/")
MLIR_FOLDER = "src/loops/generator/"
MOST_LINES = 500

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
MACHINE_PATH = re.compile(r"(?<![\w.$}~*-])/(?:home|root|work|Users)/[\w.-]")
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b")
SOURCE = (".h", ".cc", ".capnp")


def files_of(root):
    """Relative paths of what is or would be committed."""
    try:
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=True)
        names = listed.stdout.decode().split("\0")
        return sorted(n for n in set(names) if n and os.path.isfile(os.path.join(root, n)))
    except (OSError, subprocess.CalledProcessError):
        pass  # no git, or an unpacked archive
    patterns = ["/.git", ".pytest_cache"]
    if os.path.exists(os.path.join(root, ".gitignore")):
        with open(os.path.join(root, ".gitignore"), encoding="utf-8") as file:
            patterns += [line.strip().rstrip("/") for line in file if line.strip()]

    def is_ignored(path):
        return any(fnmatch.fnmatch("/" + path if "/" in pattern else os.path.basename(path), pattern)
                   for pattern in patterns)

    found = []
    for folder, folders, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        folders[:] = [f for f in folders if not is_ignored(os.path.normpath(f"{inside}/{f}"))]
        paths = [os.path.normpath(f"{inside}/{n}") for n in names]
        found += [path for path in paths if not is_ignored(path)]
    return sorted(found)


def read_table(text):
    """For each folder of src/ those it may include, with the headers' stems, or None for all of them."""
    rows = dict(TABLE_ROW.findall(text))
    table = {}
    for folder, said in rows.items():
        if said == "nothing of ours":
            table[folder] = {}
        elif said.startswith("all but "):
            without = {folder, *said.removeprefix("all but ").split(", ")}
            table[folder] = {other: None for other in rows if other not in without}
        else:
            table[folder] = {name: set(stems.split(", ")) if stems else None
                             for name, stems in INCLUDED.findall(said)}
        for other in table[folder]:
            if other not in rows:
                sys.exit(f"{TABLE}: src/{folder}/ may include '{other}', which has no row")
    return table


def include_findings(path, text, table):
    folder = path.split("/")[1]
    if folder not in table:
        yield f"{path}: src/{folder}/ has no row in {TABLE}"
        return
    for header in INCLUDE.findall(text):
        target = header.split("/")[0]
        if header == PLUGIN_HEADER and path.startswith(PLUGIN_FOLDER):
            continue
        if MLIR_HEADER.match(header) and path.startswith(MLIR_FOLDER):
            continue
        if XLA_HEADER.match(header) and folder != "compiler":
            yield f"{path}: includes {header}; only src/compiler/ may know XLA"
        elif target in table and "/" in header and target != folder:
            stems = table[folder].get(target, set())
            if stems is not None and header.removeprefix(f"{target}/").removesuffix(".h") not in stems:
                yield f"{path}: includes {header}, which {TABLE} does not allow {folder}/"


def text_findings(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line):
            yield f"{path}:{number}: a path of one machine: {line.strip()[:80]}"
        if UNFINISHED.search(line):
            yield f"{path}:{number}: says that it is not finished: {line.strip()[:80]}"


def findings(root):
    folders = set()
    with open(os.path.join(root, TABLE), encoding="utf-8") as file:
        table = read_table(file.read())
    for folder in sorted(table):
        if not os.path.isdir(os.path.join(root, "src", folder)):
            yield f"{TABLE}: there is no src/{folder}/"
    for path in files_of(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        yield from text_findings(path, text)
        parts = path.split("/")
        if parts[0] != "src" or len(parts) < 3:
            continue
        folders.add("/".join(parts[:2]))
        if len(parts) > 3:
            folders.add("/".join(parts[:3]))
        if path.endswith(SOURCE):
            yield from include_findings(path, text, table)
            lines = text.count("\n")
            if lines > MOST_LINES:
                yield f"{path}: {lines} lines; a file of more than {MOST_LINES} hides a second idea"
    for folder in sorted(folders):
        if not os.path.isfile(os.path.join(root, folder, "README.md")):
            yield f"{folder}: has no README.md"


def check_this_checker():
    """One breach of each rule, and things that look like one, in a tree of their own."""
    machine_path = "/ho" + "me/someone/x"
    cases = {
        "src/core/a.h": '#include "wire/pool.h"\n',
        "src/env/b.h": '#include "search/searcher.h"\n',
        "src/search/c.cc": '#include "wire/pool.h"\n',
        "src/tune/d.cc": '#include <xla/shape.h>\n',
        "src/compiler/e.cc": '#include "wire/pool.h"\n',
        "src/device/q.cc": '#include "xla/pjrt/c/pjrt_c_api.h"\n',
        "src/device/plugin/r.cc": '#include "xla/shape.h"\n',
        "src/loops/t.cc": "#include <mlir/IR/MLIRContext.h>\n",
        "src/loops/generator/u.cc": '#include "xla/shape.h"\n',
        "src/compiler/f.cc": '#include "env/pass_order.h"\n',
        "src/cli/g.cc": '  #  include "compiler/states.h"\n',
        "src/novel/h.cc": "\n",
        "src/wire/i.cc": "\n" * (MOST_LINES + 1),
        "docs/j.md": f"see {machine_path}\n",
        "docs/k.md": "TO" + "DO: write\n",
        "src/store/l.cc": "\n",  # its folder is without README.md
    }
    cases[TABLE] = """
| `src/core/` | idea | nothing of ours |
| `src/wire/` | idea | core |
| `src/env/` | idea | core, wire |
| `src/search/` | idea | core |
| `src/tune/` | idea | core, wire, env |
| `src/loops/` | idea | core |
| `src/compiler/` | idea | core, wire (codec, hone.capnp) |
| `src/device/` | idea | core |
| `src/store/` | idea | core |
| `src/gone/` | idea | core |
| `src/cli/` | idea | all but compiler |
"""
    innocent = {
        "src/compiler/m.cc": '#include "wire/codec.h"\n#include "wire/hone.capnp.h"\n#include "xla/shape.h"\n#include "core/x.h"\n',
        "src/device/plugin/s.cc": '#include "xla/pjrt/c/pjrt_c_api.h"\n',
        "src/loops/generator/v.cc": "#include <mlir/IR/MLIRContext.h>\n",
        "src/cli/n.cc": '#include "tune/optimize.h"\n#include <vector>\n#include <CLI/App.hpp>\n',
        "src/tune/o.cc": '// #include is not one: "compiler/x.h"\n' + "\n" * (MOST_LINES - 1),
        ".gitignore": "/.venv*/\n",
        ".venv-x/lib/t.py": "# TO" + "DO: of another project\n",
        "docs/p.md": "~/work/x  a/home/b  $HOME/root/c  https://example.org/home/x\n",
    }
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**cases, **innocent}.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
            folder = os.path.dirname(path)
            if folder.startswith("src/") and folder != "src/store":
                open(os.path.join(root, folder, "README.md"), "w", encoding="utf-8").close()
        found = list(findings(root))
    for path in cases:
        wanted = "src/store:" if path.startswith("src/store/") else path + ":"
        if not any(line.startswith(wanted) for line in found):
            sys.exit(f"the checker misses the breach in {path}: {cases[path][:60]!r}")
    if len(found) != len(cases):
        sys.exit("the checker finds what is none:\n" + "\n".join(found))


def main():
    check_this_checker()
    found = list(findings(sys.argv[1]))
    print("\n".join(found))
    sys.exit(f"{len(found)} findings" if found else 0)


if __name__ == "__main__":
    main()
