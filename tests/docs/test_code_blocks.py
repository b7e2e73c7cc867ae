"""Every code block of README.md and docs/ is run, or says why not; blocks.py has the marks.

Budgets are cut to a second. A page's blocks run in order, in one scratch folder that has `hone` in its path,
the repository's data/, and small programs under the names that the pages use.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

import blocks
from blocks import ROOT

BIN = ROOT / "build" / "bin"
BLOCKS = blocks.all_blocks()
SMALL = ROOT / "data" / "kmeans" / "jax010_kmeans_while.hlo"
TIMEOUT = 120  # seconds; far more than any takes

# A command's budget and what else makes it long, cut.
CUTS = [
    (re.compile(r"--budget (\S+)"),
     lambda m: f"--budget {'20steps' if re.fullmatch('[0-9]+steps', m[1]) else '1s,200steps'}"),
    (re.compile(r"(hone (?:optimize|tune) (?![^\n]*--budget)[^#\n\\]*?)(\s*(#.*)?)$", re.M),
     r"\1 --budget 1s,200steps\2"),
    (re.compile(r'budget="[^"]*"'), 'budget="1s"'),
    (re.compile(r"(hone train [^#\n]*?)(\s*(#.*)?)$", re.M), r"\1 --steps 64\2"),
]


def ids(found):
    return [f"{b.name}-{b.language}{'-jax' if b.marks.get('needs') == 'jax' else ''}" for b in found]


def cut(text):
    for pattern, short in CUTS:
        text = pattern.sub(short, text)
    return text


@pytest.fixture(scope="session")
def hone_jax():
    from hone.stablehlo import require_jax

    try:
        require_jax("the documentation's code")
    except ImportError as error:
        return str(error)
    return ""


class Page:
    """The scratch folder of a page."""

    def __init__(self, folder):
        self.folder = folder
        self.python = ""
        for name in ("data", "examples", "rules", "policies", "bench", "tests"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "build").mkdir()
        (folder / "build" / "bin").symlink_to(BIN)
        for name in ("model.hlo", "other.hlo", "a.hlo", "b.hlo"):
            shutil.copy(SMALL, folder / name)
        for folder_name in ("models", "programs"):
            (folder / folder_name / "small").mkdir(parents=True)
            for name in ("one.hlo", "two.hlo"):
                shutil.copy(SMALL, folder / folder_name / "small" / name)
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(BIN), os.path.dirname(sys.executable), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "python"),
                                                        os.environ.get("PYTHONPATH")])),
        }

    def run(self, command):
        return subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def page_of(tmp_path_factory):
    made = {}

    def get(name):
        if name not in made:
            made[name] = Page(tmp_path_factory.mktemp(re.sub(r"\W", "_", name)))
        return made[name]

    return get


@pytest.fixture(scope="session")
def command_line():
    if not (BIN / "hone").exists():
        pytest.skip("hone is not built")
    return json.loads(subprocess.check_output([BIN / "hone", "manual", "--json"]))


@pytest.mark.parametrize("block", BLOCKS, ids=ids(BLOCKS))
def test_the_block_has_a_language_and_known_marks(block):
    assert block.language in blocks.RUN + blocks.SHOWN, (
        f"{block.name}: a block is one of {blocks.RUN}, which are run, or {blocks.SHOWN}")
    if "no-run" in block.marks:
        assert len(block.marks["no-run"]) > 5, f"{block.name}: no-run says why"
    assert block.marks.get("needs", "jax") in ("jax", "learn"), block.name


def _hone_calls(text):
    """[(line, words after `hone`)] of every call of hone in a script."""
    for line in text:
        words = shlex.split(line, comments=True)
        for at, word in enumerate(words):
            if word == "hone" or word.endswith("/hone"):
                rest = words[at + 1:]
                ends = [i for i, w in enumerate(rest) if w in ("|", ">", "--", "&&", ";")]
                yield line, rest[:ends[0]] if ends else rest
                break


COMMANDS = [b for b in BLOCKS if b.language in ("sh", "console")]


@pytest.mark.parametrize("block", COMMANDS, ids=ids(COMMANDS))
def test_commands_and_flags_exist(block, command_line):
    for line, words in _hone_calls([command for command, _ in blocks.commands_of(block)]):
        place = command_line
        while words and not words[0].startswith("-"):
            inner = [c for c in place["commands"] if c["name"] == words[0]]
            if not inner:
                break
            place, words = inner[0], words[1:]
        assert place is not command_line or (words and words[0].startswith("-")), (
            f"{block.name}: no such command: {line}")
        flags = {flag for option in place["options"] for flag in option["flags"]}
        if place["name"] == "train" and len(flags) < 3:
            continue  # hone-learn, which has them, is not built here
        for word in words:
            if word.startswith("-") and not re.fullmatch(r"-\d.*", word):
                assert word.partition("=")[0] in flags, f"{block.name}: no flag {word}: {line}"


def run_block(block, page):
    if block.language == "json":
        json.loads(block.text)
    elif block.language == "sh":
        script = block.marks.get("given", "") + "\n" + cut(block.text)
        done = page.run(["bash", "-euc", script])
        assert done.returncode == 0, f"{block.name}:\n{script}\n{done.stdout}\n{done.stderr}"
    elif block.language == "python":
        start = page.python if "continues" in block.marks else ""
        page.python = "\n".join([start, block.marks.get("given", ""), cut(block.text)])
        done = page.run([sys.executable, "-c", page.python])
        assert done.returncode == 0, f"{block.name}:\n{done.stdout}\n{done.stderr}"
    elif block.language == "console":
        for command, expected in blocks.commands_of(block):
            done = page.run(["bash", "-euc", block.marks.get("given", "") + "\n" + cut(command)])
            fails = any(line.startswith("hone: ") and "warning" not in line and "left out" not in line
                        for line in expected.splitlines())
            said = f"{block.name}: {command}\n{done.stdout}\n{done.stderr}"
            assert (done.returncode == 0) != fails, said
            missing = blocks.same_structure(expected, done.stdout + done.stderr)
            assert not missing, f"{said}\nwithout the like of: {missing}"


RUNNABLE = [b for b in BLOCKS if b.language in blocks.RUN or "file" in b.marks]


@pytest.mark.parametrize("block", RUNNABLE, ids=ids(RUNNABLE))
def test_the_block_does_what_the_page_says(block, page_of, hone_jax):
    if "no-run" in block.marks:
        pytest.skip(block.marks["no-run"])
    page = page_of(block.page)
    if "file" in block.marks:
        (page.folder / block.marks["file"]).write_text(block.text)
        if block.language != "json":
            return
    if block.language != "json" and not (BIN / "hone-worker").exists():
        pytest.skip("hone is not built")
    if block.marks.get("needs") == "jax" and hone_jax:
        pytest.skip(hone_jax)
    if block.marks.get("needs") == "learn" and not (BIN / "hone-learn").exists():
        pytest.skip("hone-learn is not built")
    run_block(block, page)


class TestTheTestItself:
    def blocks(self, text):
        return blocks.blocks_of("page.md", text)

    def test_marks_belong_to_the_block_that_follows(self):
        found = self.blocks("<!-- no-run: it takes hours -->\n```sh\nx\n```\n\n```sh\ny\n```\n")
        assert [b.marks for b in found] == [{"no-run": "it takes hours"}, {}]
        assert self.blocks("<!-- no-run: a b c -->\ntext between\n\n```sh\nx\n```\n")[0].marks == {}

    def test_given_code_may_have_lines(self):
        block = self.blocks("<!-- given:\na = 1\n\nb = 2\n-->\n```python\nprint(a)\n```\n")[0]
        assert block.marks["given"] == "a = 1\n\nb = 2"

    def test_a_block_in_a_list_is_found(self):
        assert self.blocks("1. x\n\n   ```sh\n   y\n   ```\n")[0].text == "y\n"

    def test_a_failing_block_fails(self, tmp_path):
        page = Page(tmp_path)
        for text in ("```sh\nfalse\n```", "```python\n1 / 0\n```", "```console\n$ false\n```",
                     "```console\n$ true\nFILE  RATIO  SECONDS\n```", "```console\n$ true\nhone: no such file\n```"):
            with pytest.raises(AssertionError):
                run_block(self.blocks(text)[0], page)
        with pytest.raises(json.JSONDecodeError):
            run_block(self.blocks("```json\n{\n```")[0], page)
        run_block(self.blocks("```console\n$ echo 'FILE   RATIO  SECONDS'\nFILE RATIO SECONDS\n```")[0], page)

    def test_python_may_continue(self, tmp_path):
        page = Page(tmp_path)
        first, second = self.blocks(
            "```python\na = 1\n```\n\n<!-- continues -->\n```python\nassert a == 1\n```\n")
        run_block(first, page)
        run_block(second, page)

    def test_unknown_flags_are_found(self, command_line):
        for text in ("```sh\nhone stats --no-such-flag x\n```", "```sh\nhone no_such_command x\n```"):
            with pytest.raises(AssertionError):
                test_commands_and_flags_exist(self.blocks(text)[0], command_line)

    def test_budgets_are_cut(self):
        assert cut("hone tune x --budget 10m -o y") == "hone tune x --budget 1s,200steps -o y"
        assert cut("hone tune x --budget 500steps") == "hone tune x --budget 20steps"
        assert cut("hone train p --log runs   # now") == "hone train p --log runs --steps 64   # now"
