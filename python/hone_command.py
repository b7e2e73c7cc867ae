"""The console script `hone`: becomes the executable in the package, without importing the package."""

import importlib.util
import os
import sys


def main():
    package = importlib.util.find_spec("hone").submodule_search_locations[0]
    hone = os.path.join(package, "bin", "hone")
    try:
        os.execv(hone, ["hone", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"hone: {hone} cannot be run ({error.strerror}): reinstall hone")
