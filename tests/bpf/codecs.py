# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Codecs of libraries that are not ours: each call is counted once, and has the size it had. What
cannot be built here (no library, no module proxy) is skipped.
"""
import os
import re
import shlex
import shutil
import subprocess
import time

from exact import check_balance
from live import Broken, HBPROF, Hbprof, Workload, done, run, skip, test, tmp

HERE = os.path.dirname(os.path.abspath(__file__))
CALLED = re.compile(r"^CALLED (\S+) (\S+) (\d+) (\d+)$")


def build_c(name, library, *flags):
    """The path of the program, or None with the reason."""
    if subprocess.call(["pkg-config", "--exists", library], stderr=subprocess.DEVNULL):
        return None, f"no {library}, or no pkg-config"
    out = os.path.join(tmp, name)
    libs = subprocess.check_output(["pkg-config", "--cflags", "--libs", library]).decode()
    cc = shlex.split(os.environ.get("CC", "cc"))
    r = run([*cc, "-O2", *flags, f"{HERE}/codecs/codecs.c", "-o", out, *shlex.split(libs)])
    return (out, "") if r.returncode == 0 else (None, r.stderr)


def build_go(name, *gets):
    """In a copy: another version of a module changes go.mod and go.sum."""
    go = os.environ.get("HB_GO_BIN") or shutil.which("go")
    if not go:
        return None, "no Go"
    src, out = os.path.join(tmp, name + ".src"), os.path.join(tmp, name)
    shutil.copytree(f"{HERE}/codecs", src)
    env = dict(os.environ, GOTOOLCHAIN="local", GOFLAGS="-mod=mod", CGO_ENABLED="0")
    for argv in [["get", g] for g in gets] + [["build", "-o", out, "."]]:
        r = run([go, *argv], cwd=src, env=env)
        if r.returncode != 0:
            return None, f"go {argv[0]}: {(r.stderr.strip().splitlines() or ['timeout'])[-1]}"
    return out, ""


def truth(lines):
    found = [CALLED.match(line) for line in lines]
    got = {(m[1], m[2]): (int(m[3]), int(m[4])) for m in found if m}
    if not got:
        raise Broken("no CALLED lines")
    return got


def check(report, key, calls, size):
    """Calls whose return site had to be discovered are counted as such, and are few."""
    rows = [r for r in report["rows"] if (r["codec"], r["op"]) == key]
    unknown = sum(f["unknown_return_site"] for f in report["functions"]
                  if (f["codec"], f["op"]) == key)
    seen = sum(r["calls"] for r in rows)
    wrong = []
    if not seen <= calls <= seen + unknown or seen < calls // 2:
        wrong.append(f"{key}: {seen} calls and {unknown} unknown returns, not {calls}")
    if any(r["outcome"] != "ok" for r in rows):
        wrong.append(f"{key}: errors where there were none")
    for r in rows:
        s = r["size"]
        if (s["min_bytes"], s["max_bytes"], s["calls"]) != (size, size, r["calls"]):
            wrong.append(f"{key}: sizes {s}, not {size} each")
    return wrong


def counted(path):
    with Workload(os.path.basename(path), [path]) as w:
        with Hbprof(w.pid, "--no-stacks").wait_measuring() as h:
            w.run()
            time.sleep(0.2)
            report = h.report()
        lines = w.lines.seen
        if w.finish():
            return ["the program failed"]
    wrong = check_balance(report)
    for key, (calls, size) in truth(lines).items():
        wrong += check(report, key, calls, size)
    return wrong


def listed(path, *words):
    """What list says of the file, without root or a process."""
    out = run([HBPROF, "list", path]).stdout
    return [f"no {w} in:\n{out}" for w in words if not re.search(w, out)]


def both(sentence, built, *words):
    path, why = built
    if not path:
        return skip(sentence, why.splitlines()[-1] if why else "it does not build")
    test(sentence, counted, path)
    test(f"list shows what {os.path.basename(path)} has", listed, path, *words)


both("each call of jansson is counted", build_c("jansson", "jansson"),
     r"jansson +decode +json_loads +imported only", r"json_dumps +imported only")
both("each call of json-c is counted", build_c("json_c", "json-c", "-DWITH_JSON_C"),
     r"json-c +decode +json_tokener_parse +imported only")
both("each call of three Go codecs is counted, cbor 2.4.0 among them", build_go("gocodecs"),
     r"fxamacker/cbor +decode +\S+\(\*decoder\)\.value +v2\.4\.0",
     r"jsoniter +encode +\S+\(\*frozenConfig\)\.Marshal +v1\.1\.12")
both("and so is each of cbor 2.10.0", build_go("gocodecs2", "github.com/fxamacker/cbor/v2@v2.10.0"),
     r"fxamacker/cbor +decode +\S+\(\*decMode\)\.Unmarshal +v2\.10\.0",
     r"\(\*decoder\)\.value +for another version of the library \(<2\.5\.0\)")
done()
