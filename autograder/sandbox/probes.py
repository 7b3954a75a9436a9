"""What a hostile notebook would try, harmlessly and within bounds: each probe says what it has got hold of.

A probe is the source of a cell. It adds words to ``found`` for all that it can do and should not be able to;
in a perfect sandbox none finds anything. The same cell without the sandbox shows that the probe bites.
"""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.model import Limits
from autograder.sandbox.worker import seccomp

MIB = 1 << 20
#: Low limits, so that trying to go beyond them takes no time and harms nobody.
LIMITS = Limits(
    notebook_seconds=20.0,
    memory_bytes=1024 * MIB,
    total_memory_bytes=384 * MIB,
    processes=48,
    file_bytes=4 * MIB,
    tmp_bytes=8 * MIB,
    tmp_files=200,
)

BEGIN = """
import ctypes, errno, json, os, signal, socket, sys, tempfile, time
from pathlib import Path
found = []
"""
END = """
print(json.dumps(found))
"""

NETWORK = """
for name in ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_BLUETOOTH"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            socket.socket(getattr(socket, name, -1), kind).close()
            found.append(name)
            break
        except OSError:
            pass
"""
FILES = """
for name, path in places.items():
    try:
        if os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1):
            found.append(name)
    except OSError:
        pass
"""
WRITING = """
for path in places:
    if os.access(path, os.W_OK):
        found.append(path)
"""
ENVIRONMENT = """
read = 0
for entry in os.listdir("/proc"):
    if entry.isdigit() and int(entry) != os.getpid():
        try:
            read += bool(Path("/proc", entry, "environ").read_bytes())
        except OSError:
            pass
if read:
    found.append(f"the environment of {read} others")
"""
PROCESSES = """
others = [entry for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != os.getpid()]
if others:
    found.append(f"{len(others)} others")
"""
FORKS = """
children = []
try:
    for _ in range(limit + 16):
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        children.append(child)
except OSError:
    pass
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
if len(children) > limit:
    found.append(f"{len(children)} at once")
"""
MEMORY = """
try:
    bytearray(limit)
    found.append(f"{limit >> 20} MiB in one process")
except MemoryError:
    pass
"""
TOTAL_MEMORY = """
children = []
receive, send = os.pipe()
for _ in range(4):
    child = os.fork()
    if child == 0:
        own = bytearray(limit // 3)
        own[::4096] = b"1" * len(own[::4096])
        os.write(send, b"1")
        signal.pause()
        os._exit(0)
    children.append(child)
for _ in children:
    os.read(receive, 1)
time.sleep(2)
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
found.append(f"{limit // 3 * 4 >> 20} MiB in four processes")
"""
DISK = """
for name, place in (("home", str(Path.home())), ("tmp", tempfile.gettempdir()), ("shm", "/dev/shm")):
    written = []
    try:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            for number in range(limit // 2**20 + 1):
                Path(folder, str(number)).write_bytes(bytes(2**20))
        found.append(f"{limit // 2**20 + 1} MiB in {name}")
    except OSError:
        pass
"""
MANY_FILES = """
try:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(limit + 1):
            Path(folder, str(number)).touch()
    found.append(f"{limit + 1} files")
except OSError:
    pass
"""
UNCOUNTED = """
libc = ctypes.CDLL(None, use_errno=True)
try:
    os.close(os.memfd_create("probe"))
    found.append("files in memory")
except OSError:
    pass
segment = libc.shmget(0, 4096, 0o1600)
if segment >= 0:
    libc.shmctl(segment, 0, None)
    found.append("shared memory")
"""
PRIVILEGES = """
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
if os.getuid() == 0:
    found.append("root")
if any(int(status[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapAmb")):
    found.append("capabilities")
if status["NoNewPrivs"].strip() != "1":
    found.append("set-user-id programs")
if status["Seccomp"].strip() != "2":
    found.append("every system call")
"""
CALLS = """
libc = ctypes.CDLL(None, use_errno=True)
for name, (number, *arguments) in calls.items():
    child = os.fork()
    if child == 0:
        failed = libc.syscall(number, *arguments) < 0 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS)
        os._exit(failed)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        found.append(name)
"""

#: Calls that anybody may try, with arguments that do nothing.
CALL_ARGUMENTS = {
    "unshare": [0x10000000],
    "ptrace": [0, 0, 0, 0],
    "personality": [0xFFFFFFFF],
    "kcmp": [0] * 5,
}


@dataclass(frozen=True)
class Probe:
    """One thing to try; ``what`` says in words what must not be had."""

    name: str
    what: str
    source: str
    #: Whether the box kills all that takes part, which is then as good as finding nothing.
    is_fatal: bool = False


def probes(files: dict[str, Path], writable: Iterable[Path], machine: str) -> list[Probe]:
    """All probes; ``files`` are to stay unread, ``writable`` folders unwritten."""
    column = seccomp.MACHINES[machine][1]
    calls = {name: [seccomp.REFUSED[name][column], *rest] for name, rest in CALL_ARGUMENTS.items()}
    places = {name: str(path) for name, path in files.items()}
    folders = [str(path) for path in writable]
    return [
        _probe("network", "sockets of any network", NETWORK),
        _probe("files", "the course, the gradebook, other submissions", FILES, places=places),
        _probe("writing", "a place to write to but its own", WRITING, places=folders),
        _probe("environment", "what others keep in their environment", ENVIRONMENT),
        _probe("processes", "other processes, to be seen", PROCESSES),
        _probe("forks", f"more than {LIMITS.processes} processes", FORKS, limit=LIMITS.processes),
        _probe("memory", "more memory than allowed", MEMORY, limit=LIMITS.memory_bytes),
        _probe(
            "total memory", "more memory for all processes", TOTAL_MEMORY, limit=LIMITS.total_memory_bytes
        ),
        _probe("disk", "more bytes in files than allowed", DISK, limit=LIMITS.tmp_bytes),
        _probe("many files", "more files than allowed", MANY_FILES, limit=LIMITS.tmp_files),
        _probe("uncounted memory", "memory of no process and no file", UNCOUNTED),
        _probe("privileges", "rights of its own", PRIVILEGES),
        _probe("system calls", "system calls that no notebook needs", CALLS, calls=calls),
    ]


def _probe(name: str, what: str, source: str, **given: object) -> Probe:
    values = "".join(f"{key} = {value!r}\n" for key, value in given.items())
    return Probe(name, what, BEGIN + values + textwrap.dedent(source) + END, name == "total memory")
