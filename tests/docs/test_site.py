"""The site is built without a warning, and its pages are led to each other."""

import json
import os
import re
import subprocess

import pytest

from blocks import ROOT

MKDOCS = ROOT / ".venv-docs" / "bin" / "mkdocs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not MKDOCS.exists():
        pytest.skip("setup/install --docs has not been run")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([MKDOCS, "build", "--quiet", "--strict", "--site-dir", folder], cwd=ROOT,
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there(site):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file(), page


def test_the_readme_is_the_front_page_and_its_links_lead_to_pages(site):
    text = (site / "index.html").read_text()
    assert 'href="docs/' not in text
    targets = re.findall(r'href="([\w/-]+\.html)', text)
    assert "getting-started.html" in targets and "data.html" in targets
    for target in targets:
        assert (site / target).is_file(), target


def test_the_reference_is_made_of_docstrings_and_headers(site):
    python = (site / "reference" / "python.html").read_text()
    assert "PassOrderEnv" in python and "traj_limit" in python
    search = (site / "reference" / "cpp" / "search.html").read_text()
    assert "search/searcher.h" in search and "SearchProblem" in search and "HONE_SEARCH" not in search


def test_nothing_is_loaded_from_elsewhere_but_diagrams(site):
    # Diagrams are drawn by mermaid, which the theme loads where a page has one.
    for page in site.rglob("*.html"):
        for url in re.findall(r'<(?:script|link)[^>]*(?:src|href)="(https?://[^"]+)"', page.read_text()):
            assert "canonical" in url, f"{page.name}: {url}"


def test_the_reference_has_every_command(site):
    hone = ROOT / "build" / "bin" / "hone"
    if not hone.exists():
        pytest.skip("hone is not built")
    text = (site / "reference" / "commands.html").read_text()
    for command in json.loads(subprocess.check_output([hone, "manual", "--json"]))["commands"]:
        assert f'id="hone-{command["name"]}"' in text, command["name"]
