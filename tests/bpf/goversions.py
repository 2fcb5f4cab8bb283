# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs by Go 1.20 to 1.26, with symbols and without: panics, Goexit, goroutines on used g structs and
stacks that grow, while the garbage collector runs. What a runtime's version changes is the layout of
g and of panics, prologues, and how return addresses are found.
"""
import os
import subprocess

from exact import Measured, check_exact, differ
from live import WORK, done, ok, skip, test

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(WORK, "codecs")
VERSIONS = ("1.20.14", "1.22.12", "1.24.11", "1.26.8")


def build():
    """What went wrong; nothing if nothing has."""
    p = subprocess.run([f"{HERE}/../workload/codecs.sh", OUT, "versions"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    return p.stdout.decode() if p.returncode else ""


def counted(version, stripped):
    name = f"codecs/goversions_{version}" + ("_stripped" if stripped else "")
    m = Measured(f"{name} -n 250 -g 4 -procs 4")
    wrong = check_exact(m.report, m.lines)
    for f in m.report["functions"]:
        wrong += differ(f["function"], "version", f["library_version"], f"go{version}")
    return m.judge(wrong)


def paused(version, stripped):
    """Each stop of the world is also a pause that ends; one may be under way at either end."""
    name = f"codecs/goversions_{version}" + ("_stripped" if stripped else "")
    m = Measured(f"{name} -n 250 -g 4 -procs 4", "--requests")
    (p,) = m.report["request_processes"]
    # Not its calls: the first ones may return to where no probe stands yet, and are counted as that.
    stops = sum(f["entries"] for f in m.report["functions"]
                if f["function"] == "runtime.stopTheWorldWithSema")
    wrong, got = check_exact(m.report, m.lines), (p["pauses"] or {}).get("count")
    if not stops or got is None or abs(got - stops) > 1:
        wrong.append(f"{got} pauses, {stops} stops of the world")
    if not wrong and (p["pauses_without_end"] or p["pauses_without_row"]):
        wrong.append(f"pauses without a time: {p}")
    return m.judge(wrong)


def main():
    failed = build()
    if failed and os.environ.get("HB_CI") == "1":
        ok(False, "the program builds with each release of Go", failed)
    for version in VERSIONS:
        for stripped in (False, True):
            sentence = f"each call of a {'stripped ' if stripped else ''}program by Go {version} is counted"
            if os.path.exists(f"{OUT}/goversions_{version}"):
                test(sentence, counted, version, stripped)
                test(f"{sentence}, and each pause of its runtime", paused, version, stripped)
            else:
                skip(sentence, failed.splitlines()[-1])
    done()


if __name__ == "__main__":
    main()
