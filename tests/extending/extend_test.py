"""Adds one of each kind to a copy of the tree, counts what that took, builds and runs some of them.

A folder here is a kind: the files that are added, at their places in the tree, and in lines.toml what is put
into files that are there. CONTRIBUTING.md says how much that is; here it is counted.

Usage: extend_test.py SOURCE BUILD, folders of the tree and of a build of it that has `hone`.
"""

import difflib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import unittest

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
KINDS = sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__")
# What is built and run: the agent's side, all of it at once.
BUILT = ["searcher", "chooser", "doctor_check", "machine", "job", "command", "report_section"]
# Sources that are made of a list in another file, which has a line more.
MADE_OF_LISTS = ["src/jobs/doctor/checks.cc", "src/cli/list_commands.cc"]
# Rows of tables that nearly all is compiled with: enough that they say what they should.
ROWS = {
    "objective": """#include "core/objective.h"
        static_assert(ObjectiveName(hone::Objective::kLoopDepth) == "loop_depth");
        static_assert(InfoOf(hone::Objective::kLoopDepth).unit == hone::Unit::kCount);""",
    "decision": """#include "core/compile_plan.h"
        static_assert(CompileSiteKindName(hone::CompileSiteKind::kExample) == "example");
        static_assert(StageOf(hone::CompileSiteKind::kExample) == hone::Stage::kTiles);""",
    "element_type": """#include "core/kernel_elements.h"
        static_assert(InfoOf(hone::loops::Element::kI16).bytes == 2);""",
}


def claims():
    """{kind: (new files, lines, the files that they are in)} of CONTRIBUTING.md's table."""
    found = {}
    for line in (SOURCE / "CONTRIBUTING.md").read_text().splitlines():
        row = re.fullmatch(r"\| \[([^\]]+)\]\(#[^)]+\) \| (\d+) \| (\d+) \|(.*)\|", line)
        if row:
            kind, files, lines, places = row.groups()
            found[kind.replace(" ", "_")] = (
                int(files), int(lines), set(re.findall(r"`([^`]+)`", places)))
    return found


def files_of(kind):
    folder = HERE / kind
    return sorted(path.relative_to(folder) for path in folder.rglob("*")
                  if path.is_file() and path.name != "lines.toml")


def put(text, change):
    """The text with one change of lines.toml made."""
    lines = text.split("\n")
    find = change.get("after") or change["in"]
    at = [i for i, line in enumerate(lines) if line.startswith(find) or ("in" in change and find in line)]
    if len(at) != 1:
        raise ValueError(f"{change['file']} has {len(at)} lines of {find!r}, not one")
    if "after" in change:
        lines.insert(at[0] + 1, change["text"])
    else:
        lines[at[0]] = lines[at[0]].replace(change["replace"], change["text"])
    return "\n".join(lines)


def extend(tree, kind):
    """Adds a kind to a tree. Returns {file: lines added or changed}."""
    for path in files_of(kind):
        if (tree / path).exists():
            raise ValueError(f"{path} is there already")
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / kind / path, tree / path)
    lists = HERE / kind / "lines.toml"
    touched = {}
    for change in tomllib.loads(lists.read_text())["line"] if lists.exists() else []:
        file = tree / change["file"]
        before = file.read_text()
        after = put(before, change)
        file.write_text(after)
        changed = sum(line.startswith("+ ") for line in difflib.ndiff(
            before.splitlines(), after.splitlines()))
        touched[change["file"]] = touched.get(change["file"], 0) + changed
    return touched


def copy_tree(to):
    shutil.rmtree(to, ignore_errors=True)
    for folder in ("src", "rules"):
        shutil.copytree(SOURCE / folder, to / folder, ignore=shutil.ignore_patterns("node_modules"))
    return to


class Counted(unittest.TestCase):
    def test_contributing_says_of_every_kind_what_it_takes(self):
        self.assertEqual(sorted(claims()), KINDS)
        tree = copy_tree(BUILD / "extending" / "counted")
        for kind in KINDS:
            with self.subTest(kind):
                touched = extend(tree, kind)
                self.assertEqual(
                    (len(files_of(kind)), sum(touched.values()), set(touched)), claims()[kind])
        shutil.rmtree(tree)

    def test_the_build_finds_the_files_or_a_list_has_them(self):
        for kind in KINDS:
            for path in files_of(kind):
                if path.suffix in (".h", ".js"):  # included; bundled, all of the folder
                    continue
                with self.subTest(str(path)):
                    self.assertTrue(globbed(path) or listed(kind, path))


def globbed(path):
    """Whether a CMakeLists.txt takes all files of this folder and ending."""
    for lists in (SOURCE / "src").glob("*/CMakeLists.txt"):
        for patterns in re.findall(r"file\(GLOB \w+ CONFIGURE_DEPENDS ([^)]*)\)", lists.read_text()):
            for pattern in patterns.split():
                pattern = pattern.replace("${PROJECT_SOURCE_DIR}", str(SOURCE))
                pattern = pattern.replace("${CMAKE_CURRENT_SOURCE_DIR}", str(lists.parent))
                if (SOURCE / path).match(str(lists.parent / pattern)):
                    return True
    return False


def listed(kind, path):
    changes = tomllib.loads((HERE / kind / "lines.toml").read_text())["line"]
    return any(change["file"].endswith("CMakeLists.txt") and path.name in change["text"]
               for change in changes)


class Compiled(unittest.TestCase):
    """A copy of the tree in which files are compiled as the build has them."""

    @staticmethod
    def run_in(folder, words):
        done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{shlex.join(map(str, words))}\n{done.stdout}{done.stderr}")
        return done.stdout

    @classmethod
    def compile(cls, source, like=None):
        """As the build compiles the same file, or one beside it."""
        if not hasattr(cls, "commands"):
            entries = json.loads((BUILD / "compile_commands.json").read_text())
            cls.commands = {entry["file"]: entry for entry in entries}
        if like is None:
            like = SOURCE / source.relative_to(cls.tree)
            if str(like) not in cls.commands:
                like = cls.beside(like)
        entry = cls.commands[str(like)]
        out = BUILD / "extending" / ("_".join(source.parts[-3:]) + ".o")
        words = shlex.split(entry["command"])
        words[words.index("-o") + 1] = str(out)
        words[words.index("-c") + 1] = str(source)
        words = [word.replace(f"-I{SOURCE}/src", f"-I{cls.tree}/src") for word in words]
        cls.run_in(entry["directory"], words)
        return out

    @classmethod
    def compile_text(cls, name, text):
        """The same of a file that is written for it, NAME below the tree."""
        (cls.tree / name).write_text(text + "\n")
        return cls.compile(cls.tree / name)

    @classmethod
    def beside(cls, path):
        """A file that is compiled as a new one at `path` is; a group of them where all of its folder are in groups."""
        for folder in path.parents:
            groups = BUILD / folder.relative_to(SOURCE) / "CMakeFiles"
            for file in map(pathlib.Path, sorted(cls.commands)):
                if file.parent == folder or groups in file.parents:
                    return file
        raise AssertionError(f"nothing is compiled near {path}")


class Rows(Compiled):
    def test_they_say_what_they_should(self):
        type(self).tree = copy_tree(BUILD / "extending" / "rows")
        for kind, uses in ROWS.items():
            with self.subTest(kind):
                extend(self.tree, kind)
                self.compile_text(f"src/policy/uses_{kind}.cc", uses)
        shutil.rmtree(self.tree)


class Built(Compiled):
    """The tree with all of BUILT: what is new or changed is compiled and put before the libraries."""

    @classmethod
    def setUpClass(cls):
        folder = BUILD / "extending"
        cls.tree = copy_tree(folder / "tree")
        sources = set()
        for kind in BUILT:
            touched = extend(cls.tree, kind)
            sources |= {str(path) for path in files_of(kind) if path.suffix == ".cc"}
            sources |= {path for path in touched if path.endswith(".cc")}
        sources.update(MADE_OF_LISTS)
        objects = [cls.compile(cls.tree / source) for source in sorted(sources)]
        machines = ";".join(map(str, sorted((cls.tree / "src/memory/machines").glob("*.json"))))
        embedded = folder / "embedded_machines.cc"
        cls.run_in(BUILD, [
            "cmake", f"-DOUT={embedded}", f"-DFILES={machines}", "-DHEADER=memory/machines.h",
            "-DNAMESPACE=hone::memory", "-DTYPE=std::map<std::string, std::string>",
            "-DFUNCTION=EmbeddedMachines", "-DSTEM=ON", "-P", SOURCE / "src/embed_texts.cmake"])
        objects.append(cls.compile(embedded, like=BUILD / "generated/embedded_machines.cc"))
        cls.bin = folder / "bin"
        shutil.rmtree(cls.bin, ignore_errors=True)
        cls.bin.mkdir()
        for beside in (BUILD / "bin").iterdir():
            if beside.name != "hone":
                (cls.bin / beside.name).symlink_to(beside)
        link = cls.run_in(BUILD, ["ninja", "-t", "commands", "bin/hone"]).splitlines()[-1]
        link, found = re.subn(r" -o bin/hone ", lambda _: " {} -o {} ".format(
            " ".join(map(str, objects)), cls.bin / "hone"), link)
        assert found == 1, link
        cls.run_in(BUILD, ["sh", "-c", link])

    def hone(self, *words):
        return self.run_in(SOURCE, [self.bin / "hone", *words])

    def test_the_searcher_searches(self):
        said = json.loads(self.hone("optimize", "tests/cli/data/small.hlo", "--search", "lazy",
                                    "--budget", "50steps", "--no-verify", "--allow-unverified",
                                    "--json"))
        self.assertIn("passes", json.dumps(said))

    def test_the_chooser_is_offered(self):
        self.assertIn("stay", self.hone("tune", "--help"))

    def test_the_machine_is_known(self):
        self.assertIn("toy", self.hone("memory", "machines"))

    def test_the_check_is_made(self):
        self.assertIn("uptime", self.doctor())

    def doctor(self):
        # What is missing here is no failure of this test.
        done = subprocess.run([self.bin / "hone", "doctor"], capture_output=True, text=True)
        return done.stdout

    def test_the_command_runs(self):
        self.assertEqual(self.hone("count", "tests/cli/data/small.hlo"), "8\n")
        self.assertIn("count", self.hone("completion", "bash"))

    def test_the_section_is_drawn(self):
        self.compile_text("src/report/uses_remark.cc", """#include "report/sections/remark.h"
            hone::report::Json Made() { return ToSection(hone::report::Remark{"said"}); }""")
        libraries = SOURCE / "src/report/web/node_modules"
        if not libraries.exists():
            self.skipTest("the reports' app was not bundled: its libraries are not here")
        web = self.tree / "src/report/web"
        (web / "node_modules").symlink_to(libraries)
        page = BUILD / "extending" / "report.html"
        self.run_in(web, ["node", "bundle.mjs", page])
        self.assertIn("A remark", page.read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
