"""XLA's libraries are fetched whole or not at all, by one process at a time; the worker comes beside them.

The wheel is a small one made here, which pip finds in a folder: no test needs a network.
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

from hone import fetch_xla

SCRIPT = pathlib.Path(fetch_xla.__file__)
WHEEL = "tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl"
FILES = {
    "tensorflow/libtensorflow_cc.so.2": b"all of XLA" * 1000,
    "tensorflow/libtensorflow_framework.so.2": b"absl and protobuf",
    "tensorflow/include/xla/hlo/ir/hlo_module.h": b"class HloModule;",
    "tensorflow/python/eager.py": b"not ours",
    "tensorflow_cpu-2.21.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tensorflow-cpu\nVersion: 2.21.0\n",
    "tensorflow_cpu-2.21.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-manylinux_2_27_x86_64\n",
    "tensorflow_cpu-2.21.0.dist-info/RECORD": b"",
}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Place:
    """A cache folder, a lock, and a folder in which pip finds the wheel."""

    def __init__(self, folder):
        self.cache = folder / "cache"
        self.links = folder / "links"
        self.links.mkdir()
        with zipfile.ZipFile(self.links / WHEEL, "w") as archive:
            for name, data in FILES.items():
                archive.writestr(name, data)
        self.lock = folder / "xla.lock"
        self.write_lock(sha256((self.links / WHEEL).read_bytes()))

    def write_lock(self, wheel_sha256):
        libraries = "".join(f"# {name} sha256:{sha256(FILES['tensorflow/' + name])}\n"
                            for name in fetch_xla.LIBRARIES)
        self.lock.write_text(
            f"# a comment\ntensorflow-cpu==2.21.0 --hash=sha256:{wheel_sha256}\n{libraries}")

    @property
    def environment(self):
        return {**os.environ, "HONE_CACHE": str(self.cache), "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(self.links), "PIP_CONFIG_FILE": os.devnull}

    @property
    def xla(self):
        return self.cache / "tensorflow-cpu-2.21.0"

    def start(self, *arguments):
        return subprocess.Popen([sys.executable, SCRIPT, "--lock", self.lock, *arguments],
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def fetch(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def left(self):
        """What is in the cache folder beside the libraries and the lock."""
        return sorted({p.name for p in self.cache.iterdir()} - {"lock", self.xla.name})


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_the_libraries_and_nothing_else(place):
    code, out, err = place.fetch()
    assert (code, out) == (0, ""), err
    assert "hone: fetching XLA" in err
    assert sorted(p.name for p in place.xla.iterdir()) == sorted([*fetch_xla.LIBRARIES, "stamp"])
    for name in fetch_xla.LIBRARIES:
        assert (place.xla / name).read_bytes() == FILES["tensorflow/" + name]
    assert place.left() == []
    # Now nothing has to be fetched, so nothing is said, and no wheel is needed.
    (place.links / WHEEL).unlink()
    assert place.fetch() == (0, "", "")


def test_headers_are_fetched_where_only_libraries_were(place):
    assert place.fetch("--quiet") == (0, "", "")
    assert not (place.xla / "include").exists()
    assert place.fetch("--quiet", "--headers")[0] == 0
    assert (place.xla / fetch_xla.A_HEADER).read_bytes() == b"class HloModule;"
    assert not (place.xla / "python").exists()
    (place.links / WHEEL).unlink()
    assert place.fetch("--headers") == (0, "", "")
    assert place.fetch() == (0, "", "")


def test_a_file_that_was_cut_off_is_fetched_again(place):
    assert place.fetch("--quiet")[0] == 0
    (place.xla / "libtensorflow_cc.so.2").write_bytes(b"short")
    assert place.fetch("--quiet")[0] == 0
    assert (place.xla / "libtensorflow_cc.so.2").stat().st_size == 10_000
    assert place.left() == []


def test_two_at_once_fetch_once(place):
    both = [place.start(), place.start()]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum("unpacking" in text for text in said) == 1, said
    assert place.left() == []


def test_without_a_network_there_is_one_message_and_nothing_is_left(place):
    (place.links / WHEEL).unlink()
    code, _, err = place.fetch("--quiet")
    assert code == 2
    assert "pip could not fetch tensorflow-cpu 2.21.0" in err and "hone setup" in err
    assert "Traceback" not in err
    assert not place.xla.exists() and place.left() == []
    assert place.fetch("--quiet", "--errors-on-stdout")[1] == err


def test_another_wheel_than_the_pinned_is_refused(place):
    place.write_lock("0" * 64)
    code, _, err = place.fetch("--quiet")
    assert code == 2 and "could not fetch" in err
    assert not place.xla.exists()


def test_a_folder_that_cannot_be_written_is_said(place):
    place.cache.write_text("a file")
    code, _, err = place.fetch("--quiet")
    assert code == 2 and "HONE_CACHE" in err and "Traceback" not in err


def test_what_a_killed_one_left_is_removed(place):
    (place.cache / "tmp.killed").mkdir(parents=True)
    assert place.fetch("--quiet")[0] == 0
    assert place.left() == []


@pytest.mark.parametrize("error,code", [(KeyboardInterrupt, 130), (OSError("no room"), 2)])
def test_an_interrupted_one_leaves_nothing(place, monkeypatch, error, code):
    def download(wheel, folder, quiet):
        (folder / "half").write_text("of a wheel")
        raise error

    monkeypatch.setattr(fetch_xla, "_download", download)
    monkeypatch.setenv("HONE_CACHE", str(place.cache))
    assert fetch_xla.main(["--lock", str(place.lock), "--quiet"]) == code
    assert place.left() == [] and not place.xla.exists()


def test_too_little_room_is_said_before_anything_is_fetched(place, monkeypatch):
    monkeypatch.setitem(fetch_xla.NEEDED_MIB, False, 1 << 40)
    with pytest.raises(fetch_xla.FetchError, match="MiB free"):
        fetch_xla.ensure_libraries(fetch_xla.read_lock(place.lock), place.cache, quiet=True)


def test_hashes_are_of_the_libraries_content(place):
    assert place.fetch("--quiet")[0] == 0
    assert place.fetch("--hashes")[0] == 0
    library = place.xla / "libtensorflow_framework.so.2"
    library.write_bytes(b"X" + library.read_bytes()[1:])  # of the same size
    assert place.fetch()[0] == 0
    code, _, err = place.fetch("--hashes")
    assert code == 2 and "libtensorflow_framework.so.2" in err and "libtensorflow_cc" not in err


def test_an_entry_that_leaves_its_folder_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bad.whl", "w") as archive:
        archive.writestr("tensorflow/include/../../../evil.h", b"x")
    with pytest.raises(fetch_xla.FetchError, match="leaves its folder"):
        fetch_xla.unpack(tmp_path / "bad.whl", tmp_path / "out" / "in", headers=True)
    assert not (tmp_path / "evil.h").exists()


class TestWorker:
    @pytest.fixture
    def package(self, place, tmp_path):
        folder = tmp_path / "site" / "hone" / "bin"
        folder.mkdir(parents=True)
        (folder / "hone-worker").write_bytes(b"#!/bin/true\n")
        (folder / "hone-worker").chmod(0o755)
        (folder / "hone-worker.sha256").write_text(sha256(b"#!/bin/true\n") + "\n")
        (folder / "xla.lock").write_text(place.lock.read_text())
        assert place.fetch("--quiet")[0] == 0
        return folder.parent

    def test_it_lies_beside_the_libraries(self, package, place):
        worker = fetch_xla.ensure_worker(package, place.cache)
        assert worker == fetch_xla.worker_place(place.cache, sha256(b"#!/bin/true\n"))
        assert os.access(worker, os.X_OK) and worker.read_bytes() == b"#!/bin/true\n"
        assert (worker.parent / "xla" / "libtensorflow_cc.so.2").is_file()
        changed = worker.stat().st_mtime_ns
        assert fetch_xla.ensure_worker(package, place.cache).stat().st_mtime_ns == changed

    def test_the_cache_folder_may_move(self, package, place, tmp_path):
        worker = fetch_xla.ensure_worker(package, place.cache)
        place.cache.rename(tmp_path / "moved")
        assert (tmp_path / "moved" / worker.parent.name / "xla" / "stamp").is_file()

    def test_a_damaged_one_is_not_started(self, package, place):
        (package / "bin" / "hone-worker").write_bytes(b"#!/bin/false\n")
        with pytest.raises(fetch_xla.FetchError, match="reinstall hone"):
            fetch_xla.ensure_worker(package, place.cache)
        assert place.left() == []

    def test_old_ones_go_and_new_ones_stay(self, package, place):
        for name, age_days in (("worker-old", 40), ("worker-new", 1)):
            (place.cache / name).mkdir()
            changed = fetch_xla.time.time() - age_days * 86400
            os.utime(place.cache / name, (changed, changed))
        fetch_xla.ensure_worker(package, place.cache)
        assert "worker-old" not in place.left() and "worker-new" in place.left()


def test_the_cache_folder_is_the_users(monkeypatch):
    monkeypatch.setenv("HONE_CACHE", "/chosen/")
    assert fetch_xla.cache_folder() == pathlib.Path("/chosen")
    monkeypatch.delenv("HONE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/base")
    assert fetch_xla.cache_folder() == pathlib.Path("/base/hone")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/someone")
    assert fetch_xla.cache_folder() == pathlib.Path("/someone/.cache/hone")


def test_hones_own_lock_pins_all():
    wheel = fetch_xla.read_lock(fetch_xla.find_lock())
    assert wheel.name == "tensorflow-cpu" and sorted(wheel.libraries) == sorted(fetch_xla.LIBRARIES)
