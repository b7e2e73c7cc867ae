"""XLA's libraries out of the pinned wheel, into the user's cache folder; needs nothing but pip.

    python -m hone.fetch_xla             fetches what is missing; silent where nothing is
    python -m hone.fetch_xla --headers   also the headers, which hone is built with
    python -m hone.fetch_xla --hashes    reads the libraries whole and compares their SHA-256

`hone setup` calls this, and so does the first command that starts a worker; setup/install runs it as a
file. The cache folder is $HONE_CACHE, or hone/ in $XDG_CACHE_HOME or ~/.cache. In it:

    tensorflow-cpu-VERSION/   the libraries, and a stamp: the wheel's hash and the sizes of what is there
    worker-HASH/              of an installed hone: its worker, which finds the libraries beside itself

Both are made under another name and then renamed, by one process at a time.
"""

import argparse
import calendar
import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

LIBRARIES = ("libtensorflow_cc.so.2", "libtensorflow_framework.so.2")
A_HEADER = "include/xla/hlo/ir/hlo_module.h"
USUAL_MB = 274  # of a wheel whose lock does not say
# What is free must hold the wheel and what is unpacked of it side by side: MiB a MB of the wheel; with headers.
NEEDED_MIB = {False: 4.4, True: 7.3}
WORKERS_KEPT_DAYS = 30

_LOCKED = re.compile(r"^([\w-]+)==(\S+) --hash=sha256:([0-9a-f]{64})$", re.M)
_SIZE = re.compile(r"^# The wheel has (\d+) MB\.$", re.M)
_LIBRARY = re.compile(r"^# (\S+) sha256:([0-9a-f]{64})$", re.M)


class FetchError(RuntimeError):
    """What could not be had, and what to do."""


@dataclasses.dataclass(frozen=True)
class Wheel:
    """What xla.lock pins."""

    name: str
    version: str
    sha256: str
    megabytes: int
    libraries: dict  # name to SHA-256
    lock: pathlib.Path

    @property
    def folder_name(self):
        return f"{self.name}-{self.version}"


def read_lock(path):
    path = pathlib.Path(path)
    text = path.read_text()
    found, size = _LOCKED.search(text), _SIZE.search(text)
    if found is None:
        raise FetchError(f"{path} names no wheel")
    return Wheel(*found.groups(), int(size[1]) if size else USUAL_MB, dict(_LIBRARY.findall(text)), path)


def find_lock():
    """xla.lock of the installed package, or of the source tree."""
    package = pathlib.Path(__file__).resolve().parent
    for place in (package / "bin" / "xla.lock", package.parents[1] / "setup" / "xla.lock"):
        if place.is_file():
            return place
    raise FetchError(f"there is no xla.lock in {package / 'bin'}: reinstall hone")


def cache_folder():
    chosen = os.environ.get("HONE_CACHE")
    if not chosen:
        base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        chosen = pathlib.Path(base) / "hone"
    return pathlib.Path(os.path.abspath(chosen))


def _wanted(headers):
    return (*LIBRARIES, A_HEADER) if headers else LIBRARIES


def _sizes(folder, names):
    return [f"{name} {(folder / name).stat().st_size}" for name in names]


def is_whole(folder, wheel, headers=False):
    """Is all of it there, of this wheel, as large as it was when it was unpacked?"""
    try:
        stamp = (folder / "stamp").read_text().splitlines()
        return stamp[:1] == [wheel.sha256] and set(_sizes(folder, _wanted(headers))) <= set(stamp)
    except OSError:
        return False


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def wrong_hashes(folder, wheel):
    """Names of the libraries that aren't what was pinned."""
    return [name for name, sha256 in wheel.libraries.items()
            if not (folder / name).is_file() or sha256_of(folder / name) != sha256]


class _Progress:
    """"hone: WHAT: 12 of 274 MB" while it lives: a line rewritten on a terminal, else one now and then."""

    def __init__(self, what, folder, whole_mb, quiet):
        self._what, self._folder, self._whole_mb, self._quiet = what, folder, whole_mb, quiet
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        if not self._quiet:
            self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        if not self._quiet:
            self._thread.join()
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _run(self):
        terminal = sys.stderr.isatty()
        while True:
            line = f"hone: {self._what}: {_megabytes(self._folder)} of {self._whole_mb} MB"
            print(f"\r\033[K{line}" if terminal else line, end="" if terminal else "\n",
                  file=sys.stderr, flush=True)
            if self._ended.wait(0.5 if terminal else 10):
                return


def _megabytes(folder):
    """Of the largest file below: pip has the wheel twice for a moment."""
    largest = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # pip moves its files
            largest = max(largest, path.stat().st_size)
    return largest // 1_000_000


def _python_with_pip():
    """The first python that has pip: a virtual environment's may be without."""
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            if python and subprocess.run([python, "-m", "pip", "--version"],
                                         capture_output=True).returncode == 0:
                return python
    raise FetchError("XLA is fetched with pip, and no python3 here has it: on Debian, install "
                     "python3-pip; then run `hone setup`")


def _download(wheel, folder, quiet):
    """By pip, so that the user's settings of index, proxy and certificates are heeded."""
    inner = folder / "pip"
    inner.mkdir()
    command = [
        _python_with_pip(), "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-cache-dir", "--no-deps", "--only-binary=:all:", "--python-version", "3.11",
        "--implementation", "cp", "--abi", "cp311", "--platform", "manylinux_2_27_x86_64",
        "--require-hashes", "-r", str(wheel.lock), "-d", str(folder / "wheel")]
    with _Progress(f"fetching XLA, the wheel of {wheel.name} {wheel.version}", folder, wheel.megabytes, quiet):
        done = subprocess.run(command, env={**os.environ, "TMPDIR": str(inner)}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    found = list((folder / "wheel").glob("*.whl"))
    if done.returncode != 0 or len(found) != 1:
        said = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
        raise FetchError(
            f"pip could not fetch {wheel.name} {wheel.version}: "
            + (said or done.stdout.splitlines() or ["it said nothing"])[-1]
            + "\nwith a network, run `hone setup`; without one, put the wheel into a folder, name it in "
            "PIP_FIND_LINKS, and run `hone setup`")
    return found[0]


def unpack(wheel_file, folder, headers):
    """tensorflow/lib….so.2 and, with `headers`, tensorflow/include/, without the leading tensorflow/.

    Times of change are kept, so that unpacking again makes no build stale.
    """
    with zipfile.ZipFile(wheel_file) as archive:
        for entry in archive.infolist():
            name = entry.filename.removeprefix("tensorflow/")
            if entry.is_dir() or name == entry.filename:
                continue
            if name not in LIBRARIES and not (headers and name.startswith("include/")):
                continue
            if ".." in name.split("/"):
                raise FetchError(f"{wheel_file} holds an entry that leaves its folder: {entry.filename}")
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            changed = calendar.timegm(entry.date_time)
            os.utime(path, (changed, changed))


@contextlib.contextmanager
def _alone(cache, quiet):
    """Holds the cache folder's lock; gives a temporary folder in it, which is gone afterwards."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = open(cache / "lock", "a")
    except OSError as error:
        raise FetchError(f"{cache} cannot be written ({error.strerror}); set HONE_CACHE to another "
                         "folder") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not quiet:
                print("hone: waiting for another hone that fetches XLA", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        for left in cache.glob("tmp.*"):  # of one that was killed
            shutil.rmtree(left, ignore_errors=True)
        new = pathlib.Path(tempfile.mkdtemp(prefix="tmp.", dir=cache))
        try:
            yield new
        finally:
            shutil.rmtree(new, ignore_errors=True)


def ensure_libraries(wheel, cache, headers=False, quiet=False):
    """The folder of the libraries, fetched where they weren't there. Safe under several at once.

    Raises:
      FetchError: no network, no room, no pip, a folder that cannot be written.
    """
    folder = cache / wheel.folder_name
    if is_whole(folder, wheel, headers):
        return folder
    with _alone(cache, quiet) as new:
        if is_whole(folder, wheel, headers):  # another was at it
            return folder
        free = shutil.disk_usage(cache).free >> 20
        needed = int(NEEDED_MIB[headers] * wheel.megabytes)
        if free < needed:
            raise FetchError(f"{cache} has {free} MiB free and XLA needs {needed}; set "
                             "HONE_CACHE to a folder with more")
        wheel_file = _download(wheel, new, quiet)
        if not quiet:
            print(f"hone: unpacking XLA into {folder}", file=sys.stderr, flush=True)
        unpack(wheel_file, new / "xla", headers)
        stamp = [wheel.sha256, *_sizes(new / "xla", _wanted(headers))]
        (new / "xla" / "stamp").write_text("\n".join(stamp) + "\n")
        if folder.exists():
            folder.rename(new / "old")
        (new / "xla").rename(folder)
    return folder


def worker_place(cache, sha256):
    return cache / f"worker-{sha256[:16]}" / "hone-worker"


def ensure_worker(package, cache, quiet=False):
    """The path of an installed package's worker as it can be started: a copy beside the libraries."""
    wheel = read_lock(package / "bin" / "xla.lock")
    sha256 = (package / "bin" / "hone-worker.sha256").read_text().strip()
    libraries = ensure_libraries(wheel, cache, quiet=quiet)
    place = worker_place(cache, sha256)
    if os.access(place, os.X_OK):
        return place
    with _alone(cache, quiet) as new:
        if os.access(place, os.X_OK):
            return place
        made = new / "worker"
        made.mkdir()
        shutil.copy(package / "bin" / "hone-worker", made)
        if sha256_of(made / "hone-worker") != sha256:
            raise FetchError(f"{package / 'bin' / 'hone-worker'} is damaged: reinstall hone")
        (made / "xla").symlink_to(os.path.join("..", libraries.name))  # its run path is $ORIGIN/xla
        if place.parent.exists():
            place.parent.rename(new / "old")
        made.rename(place.parent)
        for other in cache.glob("worker-*"):  # of other versions; made again where they're wanted
            if time.time() - other.stat().st_mtime > WORKERS_KEPT_DAYS * 86400:
                shutil.rmtree(other, ignore_errors=True)
    return place


def ready_worker(quiet=False, target="cpu"):
    """The path of the hone-worker of this package, XLA fetched first where it isn't there.

    In a source tree it is the one that was built, which knows where its XLA is. The one for GPUs, hone-worker-gpu,
    is there alone (`docs/gpu.md`).

    Raises:
      FileNotFoundError: there is none.
      FetchError: XLA couldn't be fetched.
    """
    package = pathlib.Path(__file__).resolve().parent
    if target != "cpu":
        worker = package.parents[1] / "build" / "bin" / "hone-worker-gpu"
        if os.access(worker, os.X_OK):
            return str(worker)
        raise FileNotFoundError(
            f"there is no {worker}, which target={target!r} takes: in a source tree, run "
            "`setup/install --gpu && setup/build`")
    for place in (package / "bin", package.parents[1] / "build" / "bin"):
        if os.access(place / "hone-worker", os.X_OK):
            if (place / "xla.lock").is_file():
                return str(ensure_worker(package, cache_folder(), quiet))
            return str(place / "hone-worker")
    raise FileNotFoundError(
        f"there is no hone-worker in {package / 'bin'}: reinstall hone, or, in a source tree, run "
        "`make build`")


def _run(arguments):
    wheel = read_lock(arguments.lock or find_lock())
    cache = cache_folder()
    if arguments.hashes:
        folder = cache / wheel.folder_name
        wrong = wrong_hashes(folder, wheel)
        if wrong:
            raise FetchError(f"{folder}: not as pinned: {', '.join(wrong)}; remove the folder and run "
                             "`hone setup`")
        return
    ensure_libraries(wheel, cache, arguments.headers, arguments.quiet)
    package = pathlib.Path(__file__).resolve().parent
    if not arguments.lock and (package / "bin" / "xla.lock").is_file():
        ensure_worker(package, cache, arguments.quiet)


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m hone.fetch_xla", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", action="store_true", help="also what hone is built with")
    parser.add_argument("--hashes", action="store_true", help="fetch nothing; read and compare")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--lock", type=pathlib.Path, help="another xla.lock than hone's own")
    parser.add_argument("--errors-on-stdout", action="store_true",
                        help="for hone, which tells them in its own way")
    arguments = parser.parse_args(argv)
    errors = sys.stdout if arguments.errors_on_stdout else sys.stderr
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left lying
    try:
        _run(arguments)
    except (FetchError, OSError) as error:
        print(error, file=errors)
        return 2
    except KeyboardInterrupt:
        print("interrupted; nothing was kept", file=errors)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
