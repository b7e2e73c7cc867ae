"""`pip install .` makes a package that needs nothing of the source tree: command, worker, XLA from the cache."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
XLA = pathlib.Path(subprocess.check_output(
    [ROOT / "setup" / "install", "--print-xla-dir"], text=True).strip())


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Where the package was installed."""
    folder = tmp_path_factory.mktemp("install")
    # Compiling takes minutes: what was built is taken along.
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--no-build-isolation", "--no-deps", "--target", folder / "site", ROOT,
         f"--config-settings=cmake.define.HONE_PREBUILT={ROOT}/build/bin",
         f"--config-settings=build-dir={folder}/build"],
        check=True, timeout=900)
    return folder / "site"


def run(command, site, cache, **variables):
    """In an environment whose cache folder is `cache`, and which has no package index."""
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=cache.parent,
        env={**os.environ, "PYTHONPATH": str(site), "HONE_CACHE": str(cache), "PIP_NO_INDEX": "1",
             "PIP_FIND_LINKS": "", **variables})


@pytest.fixture
def cache(tmp_path):
    """A cache folder that has XLA's libraries and nothing else."""
    folder = tmp_path / "cache"
    (folder / XLA.name).mkdir(parents=True)
    for name in ("libtensorflow_cc.so.2", "libtensorflow_framework.so.2", "stamp"):
        (folder / XLA.name / name).symlink_to(XLA / name)
    return folder


def test_the_python_package_works(site, cache):
    code = """
import hone, hone.fetch_xla
assert hone.__file__.startswith(SITE), hone.__file__
assert hone.fetch_xla.ready_worker().startswith(CACHE)
env = hone.PassOrderEnv(hone.datasets.find("models/kmeans/jax010_kmeans_while"))
env.reset(seed=1)
print(env.step(1)[4]["op_count"])
"""
    done = run([sys.executable, "-c", f"SITE = {str(site)!r}; CACHE = {str(cache)!r}\n" + code], site, cache)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


def test_the_command_works_and_starts_the_worker_beside_xla(site, cache):
    done = run([site / "bin" / "hone", "stats", "models/kmeans/jax010_kmeans_while", "--json"], site, cache)
    assert done.returncode == 0, done.stderr
    workers = list(cache.glob("worker-*/hone-worker"))
    assert len(workers) == 1 and str(XLA) not in workers[0].read_bytes().decode("latin-1").split("\0")
    # Now nothing is looked for, and nothing said.
    done = run([site / "bin" / "hone", "--version"], site, cache)
    assert (done.returncode, done.stderr) == (0, "") and "tensorflow-cpu 2." in done.stdout


def test_programs_are_tuned_from_an_installed_package(site, cache):
    done = run([site / "bin" / "hone", "tune", "models/kmeans/jax010_kmeans_while", "--budget", "2s",
                "--stages", "flags", "--no-verify", "--json", "--quiet"], site, cache)
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["evaluations"] > 0


def test_without_xla_and_without_a_network_every_way_in_says_what_to_do(site, tmp_path):
    cache = tmp_path / "cache"
    for command in (["stats", "models/kmeans/jax010_kmeans_while", "--quiet"], ["setup", "--quiet"]):
        done = run([site / "bin" / "hone", *command], site, cache)
        assert done.returncode == 2
        assert done.stderr.startswith("hone: ") and "hone setup" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    done = run([sys.executable, "-c", "import hone; hone.PassOrderEnv('models/kmeans/jax010_kmeans_while')"],
               site, cache)
    assert "FetchError: pip could not fetch" in done.stderr
    done = run([site / "bin" / "hone", "doctor"], site, cache)
    assert done.returncode == 3 and "run `hone setup`" in done.stdout
    assert not list(cache.glob("t*"))


def test_it_says_where_the_libraries_are(site, cache):
    done = run([site / "bin" / "hone", "setup"], site, cache)
    assert (done.returncode, done.stderr) == (0, "")
    assert str(cache / XLA.name) in done.stdout


def test_the_command_does_not_import_the_package(site, cache):
    done = run([sys.executable, "-X", "importtime", "-c",
                "import sys, hone_command; sys.argv = ['hone', '--help']; hone_command.main()"], site, cache)
    assert done.returncode == 0 and "Usage: hone" in done.stdout
    assert "gymnasium" not in done.stderr
