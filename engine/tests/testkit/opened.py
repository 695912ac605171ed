"""Opens to other users what only root may read, for the tests and the processes they start.

Root's submissions run as other users, and so do some graders of the tests. They need this checkout
and its Python, which may lie in root's home, or may have been made with a umask that closes them.
Here they are opened in a mount namespace, without a change on the disk: folders above them by an
overlay, and they themselves, if they have closed files, by one in which all that tests write is
gone afterwards.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CLONE_NEWNS = 0x20000
ENGINE = Path(__file__).resolve().parents[2]
# hypothesis keeps its own files closed, and nobody else needs them
CLOSED = "-name .hypothesis -prune -o ( -type d ! -perm -005 -o -type f ! -perm -004 )".split()
ITSELF = ("-maxdepth", "0")


def _mount(*options):
    subprocess.run(["mount", *options], check=True, capture_output=True)


def _open(path, depth=()):
    """Let other users read a folder and all in it, or to a depth, in this namespace."""
    above = [folder for folder in reversed(path.parents) if not folder.stat().st_mode & 0o001]
    find = ["find", path, *depth, *CLOSED]
    closed = subprocess.check_output([*find, "-print", "-quit"])
    if not above and not closed:
        return
    top = above[0] if above else path
    hold = Path(tempfile.mkdtemp(dir="/tmp"))  # a name without commas, which `mount` splits at
    _mount("-t", "tmpfs", "tmpfs", hold)
    lower, upper, work, kept = (hold / name for name in ("lower", "upper", "work", "kept"))
    for folder in (lower, upper, work, kept):
        folder.mkdir()
    _mount("--rbind", path, kept)
    _mount("--bind", top, lower)
    # metacopy: a change of mode does not copy the contents
    layers = f"lowerdir={lower},upperdir={upper},workdir={work},metacopy=on"
    _mount("-t", "overlay", "-o", layers, "overlay", top)
    for folder in above:
        folder.chmod(folder.stat().st_mode | 0o001)
    if closed:
        subprocess.run([*find, "-exec", "chmod", "a+rX", "{}", "+"], check=True)
    else:
        _mount("--rbind", kept, path)
    subprocess.run(["umount", "--lazy", hold], check=True)
    hold.rmdir()


def open_to_others(root=ENGINE):
    """As root, let others read a folder, the engine and Python, and enter that of temporary files.

    Where the system refuses it, `tiers.missing` says which tiers are not tested, and why.
    """
    if not sys.platform.startswith("linux") or os.getuid() != 0:
        return
    here = os.getcwd()
    if ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        return
    try:
        _mount("--make-rprivate", "/")
        needed = {root, ENGINE, Path(sys.prefix), Path(sys.base_prefix)} - {Path("/usr")}
        for path in needed:
            if needed.isdisjoint(path.parents):  # otherwise it is opened with the folder it is in
                _open(path)
        _open(Path(tempfile.gettempdir()), ITSELF)
    except (OSError, subprocess.CalledProcessError):
        return
    os.chdir(here)  # the same folder, in this namespace
