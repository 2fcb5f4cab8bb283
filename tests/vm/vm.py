# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A virtual machine that runs one shell script under another kernel: an initramfs with busybox, hbprof
and the libraries that it is linked with, emulated by QEMU (-accel tcg: that a machine has /dev/kvm
does not say that a guest runs on it). What the script leaves in /out comes back as files.

    m = vm.Machine(folder, [hbprof, workload...], "measure name 'options' workload -n 100\n", arch="arm64")
    wrong = m.run(vm.kernel("bookworm", "arm64"))       # None, or what went wrong
    m.text("name.json")                                 # /out/name.json

The script runs in busybox's shell with guest.sh before it; programs are in PATH. A test of its own: any
t_vm_X.sh here that calls a Python file like kernels.py. For arm64, `make check-vm` has built hbprof in
$HB_ARM64 and the workloads in $HB_ARM64/workload (workload.sh says which).
"""
import base64
import io
import os
import re
import shutil
import stat
import subprocess
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_S = 300  # alone a machine takes 20 to 50 s; other work may go on beside it
# thread=single: with a thread for each CPU, QEMU 7.2 sometimes goes on with the translation of what stood
# in a uprobe's single-step slot before (3 of 5 runs with runtime.memmove probed; none of 8 so).
# -cx16: its cmpxchg16b has corrupted flags under Linux 6.12.
QEMU_X86 = ["qemu-system-x86_64", "-accel", "tcg,thread=single", "-M", "pc", "-cpu", "qemu64,-cx16",
        "-smp", "2", "-m", "768", "-nodefaults", "-vga", "none", "-display", "none", "-net", "none",
        "-no-reboot"]
# icount: time is the number of instructions, so a run is the same each time, whatever else the host
# does; instructions are counted, cycles are twice as many (shift=1). With icount one thread of QEMU's runs all
# CPUs: with one for each it executes stale code in single-step slots there too. The CPU is Graviton2's; it has neither
# pointer authentication nor BTI, whose instructions are nops to it.
QEMU_ARM64 = ["qemu-system-aarch64", "-M", "virt", "-cpu", "neoverse-n1", "-smp", "{cpus}", "-m", "768",
              "-icount", "shift={shift},sleep=off", "-rtc", "clock=vm,base=2026-01-01", "-seed", "1",
              "-nodefaults", "-display", "none", "-net", "none", "-no-reboot"]
QEMU = {"amd64": QEMU_X86, "arm64": QEMU_ARM64}
CONSOLE = {"amd64": "ttyS0", "arm64": "ttyAMA0"}


class Missing(Exception):
    """What is needed to run a machine is not there; says what."""


def kernel(suite, arch="amd64"):
    """The image of the suite's kernel, fetched if need be."""
    r = subprocess.run([f"{HERE}/kernel.sh", suite, arch], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    if r.returncode:
        raise Missing(f"the kernel of Debian's {suite} cannot be fetched: {r.stderr.strip()}")
    return r.stdout.strip()


def sysroot():
    """Folder with arm64's libraries, fetched if need be."""
    r = subprocess.run([f"{HERE}/sysroot.sh", "arm64"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if r.returncode:
        raise Missing(f"libraries for arm64 cannot be fetched: {r.stderr.strip()}")
    return r.stdout.strip()


def busybox(arch):
    if arch == "arm64":
        return f"{sysroot()}/bin/busybox"
    path = shutil.which("busybox")
    if not path:
        raise Missing("busybox-static is not installed")
    return path


def needed(program):
    """Names of the shared objects that a program names itself, its loader first."""
    r = subprocess.run(["readelf", "-lWd", program], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True)
    loader = re.findall(r"program interpreter: /\S*/([^/\]]+)\]", r.stdout)
    return loader + re.findall(r"\(NEEDED\).*\[(.*)\]", r.stdout)


def libraries_of(program, folders):
    """As libraries(), of a program for another machine: what it needs, and what that needs."""
    found, todo = {}, needed(program)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        paths = [f"{f}/{name}" for f in folders if os.path.exists(f"{f}/{name}")]
        if not paths:
            raise Missing(f"{program} needs {name}, which is not in {' '.join(folders)}")
        found[name] = paths[0]
        todo += needed(paths[0])
    return list(found.values())


def libraries(program, arch):
    """Paths of the shared objects that a program needs, its loader included; none if static."""
    if arch == "arm64":
        root = sysroot()
        return libraries_of(program, [os.path.dirname(program), "/usr/aarch64-linux-gnu/lib"] +
                            [f"{root}/{d}/aarch64-linux-gnu" for d in ("usr/lib", "lib")])
    r = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return re.findall(r"(/\S+) \(0x", r.stdout)


def guest_name(program, lib, arch):
    """Where a library is put. One of the program's own is looked for beside it."""
    if os.path.dirname(lib) == os.path.dirname(program):
        return f"bin/{os.path.basename(lib)}"
    if arch == "arm64":
        return f"lib/{os.path.basename(lib)}"
    return lib.lstrip("/")


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
    """folder: an empty one for this machine. programs: files that are put into the guest's /bin. arch:
    of the guest. arm64's shift: an instruction takes 2^shift ns; cpus: how many it has."""

    def __init__(self, folder, programs, script, arch="amd64", shift=1, cpus=1):
        self.folder, self.arch, self.shift, self.cpus = folder, arch, shift, cpus
        self.out = f"{folder}/out"
        files = {"init": (0o100755, slurp(f"{HERE}/init")),
                 "bin/busybox": (0o100755, slurp(busybox(arch))),
                 "bin/sh": (stat.S_IFLNK | 0o777, b"busybox"),
                 "guest.sh": (0o100644, slurp(f"{HERE}/guest.sh")),
                 "test.sh": (0o100644, (". /guest.sh\n" + script).encode())}
        for p in programs:
            files[f"bin/{os.path.basename(p)}"] = (0o100755, slurp(p))
            for lib in libraries(p, arch):
                files[guest_name(p, lib, arch)] = (0o100755, slurp(lib))
        write_initramfs(f"{folder}/initrd", files)

    def run(self, image, limit_s=LIMIT_S):
        """Runs to the end. None if the guest has said that it is done; else what is wrong."""
        console, sent = f"{self.folder}/console", f"{self.folder}/out.tar"
        qemu = [word.format(shift=self.shift, cpus=self.cpus) for word in QEMU[self.arch]]
        if not shutil.which(qemu[0]):
            raise Missing(f"{qemu[0]} is not installed")
        begin = time.monotonic()
        status = subprocess.call(
            ["timeout", "-k", "5", str(limit_s)] + qemu +
            ["-serial", f"file:{console}"] +
            (["-serial", f"file:{sent}"] if self.arch == "amd64" else []) +
            ["-kernel", image, "-initrd", f"{self.folder}/initrd",
             "-append", f"console={CONSOLE[self.arch]} panic=-1 loglevel=4 no_timer_check"],
            stdin=subprocess.DEVNULL)
        self.seconds = time.monotonic() - begin
        self.console = slurp(console).decode(errors="replace") if os.path.exists(console) else ""
        self.release = (re.findall(r"HBVM-UP \S+ (\S+)", self.console) or ["?"])[0]
        done = re.search(r"HBVM-DONE rc=(\d+) uptime=(\S+)", self.console)
        self.guest_s = done[2] if done else "?"
        if not done:
            return f"no HBVM-DONE after {self.seconds:.0f} s, qemu's status {status}:\n" + \
                self.console[-3000:]
        # arm64's board has one serial line.
        line = re.search(r"HBVM-OUT\s+(.*?)\s+HBVM-END", self.console, re.S)
        tar = io.BytesIO(base64.b64decode(line[1])) if line else open(sent, "rb")
        with tar, tarfile.open(fileobj=tar) as t:
            t.extractall(self.out)
        if done[1] != "0":
            return f"the script failed ({done[1]}):\n" + self.text("test.log")
        return None

    def text(self, name):
        path = f"{self.out}/{name}"
        return slurp(path).decode(errors="replace") if os.path.exists(path) else f"(no {name})"
