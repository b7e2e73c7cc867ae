"""Files that are whole or not there at all."""

import os
import pathlib
import tempfile


def write_whole(path: str | os.PathLike, data: bytes) -> None:
    """Writes a file at once: it has the new bytes, or it is as it was."""
    path = pathlib.Path(path)
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        # mkstemp makes files that only their owner may read.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        pathlib.Path(temporary).unlink(missing_ok=True)
        raise
