# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A virtual machine that runs one shell script under another kernel: an initramfs with busybox, hbprof
and the libraries that it is linked with, emulated by QEMU (-accel tcg: that a machine has /dev/kvm
does not say that a guest runs on it). What the script leaves in /out comes back as files.
"""
import os
import re
import shutil
import stat
import subprocess
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_S = 150  # a boot takes 3 to 5 s, a measurement 3 to 10, and other work may go on beside it
# thread=single: with a thread for each CPU, QEMU 7.2 sometimes goes on with the translation of what stood
# in a uprobe's single-step slot before (3 of 5 runs with runtime.memmove probed; none of 8 so).
# -cx16: its cmpxchg16b has corrupted flags under Linux 6.12.
QEMU = ["qemu-system-x86_64", "-accel", "tcg,thread=single", "-M", "pc", "-cpu", "qemu64,-cx16",
        "-smp", "2", "-m", "768", "-nodefaults", "-vga", "none", "-display", "none", "-net", "none",
        "-no-reboot"]


class Missing(Exception):
    """What is needed to run a machine is not there; says what."""


def kernel(suite):
    """The image of the suite's kernel, fetched if need be."""
    r = subprocess.run([f"{HERE}/kernel.sh", suite], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if r.returncode:
        raise Missing(f"the kernel of Debian's {suite} cannot be fetched: {r.stderr.strip()}")
    return r.stdout.strip()


def busybox():
    path = shutil.which("busybox")
    if not path:
        raise Missing("busybox-static is not installed")
    return path


def libraries(program):
    """Paths of the shared objects that a program needs, its loader included; none if static."""
    r = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return re.findall(r"(/\S+) \(0x", r.stdout)


def cpio_entry(out, number, name, mode, data):
    """One entry in the newc format (Documentation/driver-api/early-userspace/buffer-format.rst)."""
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
    for part in (head, data):
        out.write(part + b"\0" * (-len(part) % 4))


def parents(path):
    """'a', 'a/b' of 'a/b/c'."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:i + 1]) for i in range(len(parts))]


def write_initramfs(path, files):
    """files: {name in the guest without the first slash: (mode, bytes)}"""
    folders = sorted({p for name in files for p in parents(name)} | {"dev", "out", "tmp"})
    with open(path, "wb") as out:
        for i, name in enumerate(folders):
            cpio_entry(out, i + 1, name, stat.S_IFDIR | 0o755, b"")
        for i, (name, (mode, data)) in enumerate(sorted(files.items())):
            cpio_entry(out, len(folders) + i + 1, name, mode, data)
        cpio_entry(out, 0, "TRAILER!!!", 0, b"")


def slurp(path):
    with open(path, "rb") as f:
        return f.read()


class Machine:
    """folder: an empty one for this machine. programs: files that are put into the guest's /bin."""

    def __init__(self, folder, programs, script):
        self.folder = folder
        self.out = f"{folder}/out"
        files = {"init": (0o100755, slurp(f"{HERE}/init")),
                 "bin/busybox": (0o100755, slurp(busybox())),
                 "bin/sh": (stat.S_IFLNK | 0o777, b"busybox"),
                 "guest.sh": (0o100644, slurp(f"{HERE}/guest.sh")),
                 "test.sh": (0o100644, (". /guest.sh\n" + script).encode())}
        for p in programs:
            files[f"bin/{os.path.basename(p)}"] = (0o100755, slurp(p))
            for lib in libraries(p):
                # One of the program's own is looked for beside it.
                own = not lib.startswith(("/lib", "/usr/lib"))
                name = f"bin/{os.path.basename(lib)}" if own else lib.lstrip("/")
                files[name] = (0o100755, slurp(lib))
        write_initramfs(f"{folder}/initrd", files)

    def run(self, image):
        """Runs to the end. None if the guest has said that it is done; else what is wrong."""
        console, sent = f"{self.folder}/console", f"{self.folder}/out.tar"
        if not shutil.which(QEMU[0]):
            raise Missing(f"{QEMU[0]} is not installed")
        begin = time.monotonic()
        status = subprocess.call(
            ["timeout", "-k", "5", str(LIMIT_S)] + QEMU +
            ["-serial", f"file:{console}", "-serial", f"file:{sent}", "-kernel", image,
             "-initrd", f"{self.folder}/initrd",
             "-append", "console=ttyS0 panic=-1 loglevel=4 no_timer_check"],
            stdin=subprocess.DEVNULL)
        self.seconds = time.monotonic() - begin
        self.console = slurp(console).decode(errors="replace") if os.path.exists(console) else ""
        self.release = (re.findall(r"HBVM-UP \S+ (\S+)", self.console) or ["?"])[0]
        done = re.search(r"HBVM-DONE rc=(\d+)", self.console)
        if not done:
            return f"no HBVM-DONE after {self.seconds:.0f} s, qemu's status {status}:\n" + \
                self.console[-3000:]
        with tarfile.open(sent) as t:
            t.extractall(self.out)
        if done[1] != "0":
            return f"the script failed ({done[1]}):\n" + self.text("test.log")
        return None

    def text(self, name):
        path = f"{self.out}/{name}"
        return slurp(path).decode(errors="replace") if os.path.exists(path) else f"(no {name})"
