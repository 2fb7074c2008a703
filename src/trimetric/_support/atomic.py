"""The one way in which files are written: wholly or not at all, and what failed is told in a line."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

REASONS = {
    errno.ENOSPC: "no space is left on the disk",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it is larger than a file may be here",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "no permission to write there",
    errno.EPERM: "no permission to write there",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOENT: "there is no such folder",
    errno.ENOTDIR: "there is no such folder",
    errno.EISDIR: "it is a folder",
}


class WriteError(OSError):
    """A file that could not be written, and why, in one line; `errno` is that of the cause."""

    def __init__(self, file: Path, cause: OSError) -> None:
        super().__init__(f"{file}: cannot be written, {REASONS.get(cause.errno or 0, cause.strerror or str(cause))}")
        self.errno = cause.errno


@contextmanager
def replacing(file: Path | str) -> Iterator[BinaryIO]:
    """Open a stream whose content takes the place of a file at the end of the block.

    The content is written to a file beside it (`<name>.writing`), flushed to the disk and renamed.  After any error,
    Ctrl-C included, the file is as it was and nothing is left beside it; a process that is killed may leave
    `<name>.writing`, which the next one uses.  The mode of the file follows the umask.

    Args:
        file: the file to write or replace; its folder must exist.

    Yields:
        A stream for bytes; its `name` is the path of the file beside.

    Raises:
        WriteError: if the file cannot be written.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with replacing(Path(folder) / "numbers.txt") as stream:
        ...         _ = stream.write(b"1 2 3")
        ...     print((Path(folder) / "numbers.txt").read_text())
        1 2 3
    """
    file = Path(file)
    with _telling(file):
        stream, beside = _open_beside(file)
    try:
        with _telling(file, beside):
            yield stream
            sync(stream)
            if fcntl is None:
                stream.close()  # Windows renames no open file; elsewhere the lock is kept until it has its name
            beside.replace(file)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        with suppress(OSError):  # what is left in its buffer may not fit on the disk either
            stream.close()
        raise
    stream.close()


def sync(stream: BinaryIO) -> None:
    """Have all that was written on the disk."""
    stream.flush()
    os.fsync(stream.fileno())


def check_writable(file: Path | str) -> None:
    """Try what `replacing` does first, and leave nothing behind.

    Args:
        file: the file that is to be written later; it may exist.

    Raises:
        WriteError: if it could not be written.
    """
    file = Path(file)
    with _telling(file):
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if file.exists() and not file.is_file():
            raise OSError(errno.EINVAL, "it is a device, a pipe or a socket")
        stream, beside = _open_beside(file)
        try:
            stream.close()
        finally:
            beside.unlink(missing_ok=True)


def _open_beside(file: Path) -> tuple[BinaryIO, Path]:
    """An empty file that no other process writes to: the usual one, or another where that is taken."""
    if fcntl is not None:
        usual = file.with_name(file.name + ".writing")
        with suppress(OSError):
            return _locked(usual), usual
    other = file.with_name(f"{file.name}.{secrets.token_hex(4)}.writing")
    return other.open("x+b"), other


def _locked(path: Path) -> BinaryIO:
    """Open the file that others may write to as well, or that a killed process left."""
    # A link, which someone may have laid there, is not followed.
    create = os.O_CREAT | os.O_NOFOLLOW
    stream = open(path, "r+b", opener=lambda name, flags: os.open(name, flags | create, 0o666))  # noqa: SIM115
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[union-attr]
        if not os.path.samestat(os.fstat(stream.fileno()), path.stat()):
            raise BlockingIOError(errno.EAGAIN, "another process has just put it in place")
        stream.truncate()
    except BlockingIOError:
        stream.close()
        raise
    except BaseException:
        stream.close()
        path.unlink(missing_ok=True)
        raise
    return stream


@contextmanager
def _telling(file: Path, beside: Path | None = None) -> Iterator[None]:
    """What the system says, as a line that names the file that was to be written."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        if beside is not None and error.filename not in (None, str(file), str(beside), beside, file):
            raise  # about another file, which the block has to do with
        raise WriteError(file, error) from error
