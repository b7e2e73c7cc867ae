"""Unpacks XLA out of a tensorflow-cpu wheel: unpack_xla.py WHEEL FOLDER.

Only tensorflow/include/ and the two libraries, without the leading tensorflow/. Times of change are
kept, so that unpacking again makes no build stale.
"""

import calendar
import os
import shutil
import sys
import zipfile

LIBRARIES = ("tensorflow/libtensorflow_cc.so.2", "tensorflow/libtensorflow_framework.so.2")


def main():
    wheel, folder = sys.argv[1:]
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            name = entry.filename
            if entry.is_dir() or not (name in LIBRARIES or name.startswith("tensorflow/include/")):
                continue
            parts = name.split("/")[1:]
            if ".." in parts:
                sys.exit(f"{wheel} holds an entry that leaves its folder: {name}")
            path = os.path.join(folder, *parts)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(entry) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            changed = calendar.timegm(entry.date_time)
            os.utime(path, (changed, changed))


if __name__ == "__main__":
    main()
