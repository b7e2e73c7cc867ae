"""What `make docs` adds to docs/: pages that are kept elsewhere, and those made of hone itself.

README.md is the site's front page, CONTRIBUTING.md and the READMEs of data/ and bench/ are pages; links
among them and to docs/ are led to the right page. A link to a file that is no page becomes plain text: the
site has no source tree to link to.
"""

import os
import pathlib
import posixpath
import re
import subprocess

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Files of the repository, and the pages that they are.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "data/README.md": "data.md",
    "bench/README.md": "bench.md",
}
# Folders of src/ whose headers others build upon.
HEADERS = ("core", "search", "search/choices", "env", "wire", "dataset", "policy", "cost", "store",
           "tune", "memory")

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_FENCED = re.compile(r"^```.*?^```", re.M | re.S)
_GUARD = re.compile(r"^#(?:ifndef|define|endif).*HONE_.*_H_.*\n", re.M)
_INCLUDE = re.compile(r"^#include .*\n", re.M)


def repository_path(page):
    """Where the page `page` of the site is in the repository."""
    for path, name in PAGES.items():
        if name == page:
            return path
    return "docs/" + page


def page_of(path):
    """The page of a file of the repository, or None."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/") and path.endswith(".md"):
        return path.removeprefix("docs/")
    return None


def lead_links(markdown, page):
    """The text with its links led from files of the repository to pages of the site."""
    here = posixpath.dirname(repository_path(page))

    def lead(match):
        text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(here, path))
        if not (ROOT / path).exists():
            return match[0]  # mkdocs tells that it leads nowhere
        if (ROOT / path).is_dir():
            path += "/README.md"
        found = page_of(path)
        if found is None:
            return text
        relative = posixpath.relpath(found, posixpath.dirname(page) or ".")
        return f"[{text}]({relative}{'#' + anchor if anchor else ''})"

    # Code is left as it is.
    parts, at = [], 0
    for fenced in _FENCED.finditer(markdown):
        parts += [_LINK.sub(lead, markdown[at:fenced.start()]), fenced[0]]
        at = fenced.end()
    return "".join([*parts, _LINK.sub(lead, markdown[at:])])


def header_section(path):
    """A header as a section: what it says of itself, then its declarations."""
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    count = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    about = "".join(line[2:].removeprefix(" ") for line in lines[:count])
    code = _INCLUDE.sub("", _GUARD.sub("", "".join(lines[count:])))
    code = re.sub(r"\n{3,}", "\n\n", code).strip()
    about = re.sub(r"([<\[\]*_])", r"\\\1", about)  # it is no Markdown
    return f"## {path.relative_to(ROOT / 'src')}\n\n{about}\n```cpp\n{code}\n```\n"


def header_page(folder):
    headers = sorted((ROOT / "src" / folder).glob("*.h"))
    return f"# src/{folder}\n\n" + "\n".join(header_section(header) for header in headers)


def header_index():
    lines = ["# C++", "", "The headers that others build upon, by folder. Who may include whom is in "
             "[Architecture](../architecture.md#folders).", "", "| folder | headers |", "|---|---|"]
    for folder in HEADERS:
        names = ", ".join(f"`{p.name}`" for p in sorted((ROOT / "src" / folder).glob("*.h")))
        lines.append(f"| [src/{folder}](cpp/{folder.replace('/', '_')}.md) | {names} |")
    return "\n".join(lines) + "\n"


def commands_page():
    """What hone says of its own command line, with `hone train` where hone-learn is built."""
    hone = ROOT / "build" / "bin" / "hone"
    if not hone.exists():
        return "# Commands\n\nhone is not built: run `make docs`.\n"
    return subprocess.check_output([hone, "manual", "--markdown"], text=True)


def on_files(files, config):
    for path, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text()))
    files.append(File.generated(config, "reference/commands.md", content=commands_page()))
    files.append(File.generated(config, "reference/cpp.md", content=header_index()))
    for folder in HEADERS:
        name = f"reference/cpp/{folder.replace('/', '_')}.md"
        files.append(File.generated(config, name, content=header_page(folder)))
    return files


def on_page_markdown(markdown, page, **_):
    return lead_links(markdown, page.file.src_uri)


def on_config(config):
    os.chdir(ROOT)  # where mkdocstrings looks for python/
    return config
