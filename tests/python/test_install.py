"""`pip install .` makes a package that needs nothing of the source tree."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_pip_installs_a_package_that_works(tmp_path):
    site = tmp_path / "site"
    # The worker takes minutes to compile: the one that was built is taken along.
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--no-build-isolation", "--no-deps", "--target", site, ROOT,
         "--config-settings=cmake.define.HONE_WORKER=OFF", "--config-settings=build.targets=_core",
         f"--config-settings=cmake.define.HONE_PREBUILT={ROOT}/build/bin",
         f"--config-settings=build-dir={tmp_path}/build"],
        check=True, timeout=900)
    code = """
import hone, hone._options
assert hone.__file__.startswith(SITE), hone.__file__
assert hone._options.find_worker().startswith(SITE)
env = hone.PassOrderEnv(hone.datasets.find("models/kmeans/jax010_kmeans_while"))
env.reset(seed=1)
print(env.step(1)[4]["op_count"])
"""
    done = subprocess.run(
        [sys.executable, "-c", f"SITE = {str(site)!r}\n" + code], capture_output=True, text=True,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)}, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
