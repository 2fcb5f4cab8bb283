# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""C and C++ programs: exact counts where the program stays on its stacks; where it does not, losses
that are counted, and never a call that was not made.
"""
import os

from exact import (Measured, Seen, check_balance, check_exact, differ, exact, latency,
                   parse_truth)
from live import HBPROF, WORK, Workload, done, run, skip, test, text_changes

MODES = [
    ("spin", "spin", "-n 1000 -iters 200"),
    ("spin", "push", "-n 1000 -iters 200 -g 2"),
    ("spin", "endbr", "-n 1000 -iters 200"),
    ("spin", "lea", "-n 1000 -iters 200"),
    ("spin", "cost", "-n 2000"),
    ("hostile", "plain", "-n 1000"),
    ("hostile", "plain", "-n 300 -procs 1 -g 4"),
    ("hostile", "threads", "-n 300"),
    ("hostile", "recursion", "-n 20"),
    ("hostile", "seccomp", "-n 500"),
    ("hostile", "tailcalls", "-n 500"),
    ("hostile_cxx", "throw", "-n 300"),
    ("cjson_work", "parse", "-n 500 -size device"),
    ("cjson_work", "parselen", "-n 1000 -rate 4000 -size order"),
    ("cjson_work", "printunformatted", "-n 500 -size device"),
    ("cjson_work", "threads", "-n 200 -rate 800"),
]
# Calls that are left by longjmp or an exception, and how many entries of a round these are.
LEFT_MODES = [
    ("hostile", "longjmp", 4),
    ("hostile_cxx", "throwdeep", 3),
    ("hostile_cxx", "throwcaught", 1),
]
# Calls through pointers: at first their return sites are not known.
FOUND_MODES = [
    ("hostile", "funcptr", "-n 1000 -rate 4000"),
]
SWITCHED_MODES = [("sigaltstack", "-n 300"), ("fibers", "-n 300"), ("yield", "-n 300")]


def found(name, *options):
    """Unknown at first, known soon: half of the calls would be more than 50 ms at these rates."""
    m = Measured(name, *options)
    wrong = check_exact(m.report, m.lines, may_be_unknown=True)
    for fn, t in parse_truth(m.lines).items():
        unknown = Seen(m.report, fn).f["unknown_return_site"]
        if unknown > t["entries"] // 2:
            wrong.append(f"{fn}: {unknown} of {t['entries']} calls are still unknown")
    return m.judge(wrong)


def check_switched(m):
    """Other stacks: a call is a sample, or dropped for that reason, or was left for dead when its
    stack was switched away from: but there are no more samples than calls."""
    wrong = check_balance(m.report)
    c = m.report["coverage"]
    wrong += [f"drops: {k} {n}" for k, n in c["drops"].items() if n and k != "stack_switch"]
    for fn, t in parse_truth(m.lines).items():
        s = Seen(m.report, fn)
        lost = sum(s.f[k] for k in ("dropped", "abandoned", "in_flight_end", "unknown_return_site"))
        if s.f["entries"] != t["entries"]:
            wrong.append(f"{fn}: entries {s.f['entries']}, truth {t['entries']}")
        if not s.calls <= t["calls"] <= s.calls + lost:
            wrong.append(f"{fn}: calls {s.calls} + {lost} lost, truth {t['calls']}")
    return wrong


def switched(name):
    m = Measured(name)
    return m.judge(check_switched(m))


def left_by_a_switch():
    """What runs on the other stack is no part of the call that was left: it has calls of its own, with
    their own time, and the one that was left is said to be."""
    m = Measured("hostile -mode yield -n 300")
    s, wrong = Seen(m.report, "codec"), check_balance(m.report)
    wrong += differ("codec", "entries", s.f["entries"], 1200)
    wrong += differ("codec", "calls", s.calls, 600)
    wrong += differ("codec", "abandoned", s.f["abandoned"], 600)
    return m.judge(wrong + differ("codec", "nested", s.f["nested"], 0))


def builtin():
    """Nobody sees __builtin_longjmp. A call that it has left may be taken to be open still, by a return
    address that nothing has overwritten: then calls count as nested in it, and it is abandoned
    later. Nothing is counted twice, and no call comes out longer than the longest one."""
    m = Measured("hostile -mode builtin -n 300")
    s, t = Seen(m.report, "codec"), parse_truth(m.lines)["codec"]
    longest = max(r["latency"]["max_ns"] for r in s.rows)
    wrong = check_balance(m.report)
    if s.f["entries"] != t["entries"]:
        wrong.append(f"entries {s.f['entries']}, truth {t['entries']}")
    if s.f["abandoned"] + s.f["in_flight_end"] != t["abandoned"]:
        wrong.append(f"abandoned {s.f['abandoned']}, truth {t['abandoned']}")
    nested = t["entries"] - t["calls"] - t["abandoned"]
    if not t["calls"] - (s.f["nested"] - nested) <= s.calls <= t["calls"]:
        wrong.append(f"calls {s.calls}, nested {s.f['nested']}; truth {t['calls']}, {nested}")
    if longest > latency(m.lines, "codec", "max"):
        wrong.append(f"a call of {longest} ns; the longest had {latency(m.lines, 'codec', 'max')}")
    return m.judge(wrong)


def stepped_recursion():
    """A thousand entries a call, whose returns are single-stepped: what was subtracted for each is about a
    pair of that class. A pair with a branch is a tenth of it."""
    m = Measured("hostile -mode recursion -n 40")
    s = Seen(m.report, "codec_deep")
    wrong = check_exact(m.report, m.lines)
    if not s.f["exits_by_class"]["step"]:
        return m.judge(wrong)  # this compiler has made other code of it
    row, cls = s.rows[0], m.report["probe"]["classes"][0]
    each = (row["raw"]["mean_ns"] - row["latency"]["mean_ns"]) / 1000
    if not cls["class"].endswith("+step") or not 0.5 < each / cls["total_ns"] < 2:
        wrong.append(f"{each} ns were subtracted for each nested call; a pair has {cls}")
    return m.judge(wrong)


def dlopen():
    """A library that is loaded later has no functions yet: that is said, and nothing is changed."""
    wrong = []
    with Workload("hostile -mode dlopen -n 20") as w:
        r = run([HBPROF, "--pid", str(w.pid), "--probe", "latecodec_encode"])
        if r.returncode != 3 or "latecodec_encode" not in r.stderr:
            wrong.append(f"exit status {r.returncode}: {r.stderr}")
        w.run()
        wrong += text_changes(w.pid)
        if w.finish():
            wrong.append("the program failed")
    return wrong


def main():
    for program, mode, flags in MODES:
        test(f"{program} {mode} {flags}: counted exactly", exact, f"{program} -mode {mode} {flags}")
    test("hostile threadexit -n 100: calls of threads that have ended are not in flight", exact,
         "hostile -mode threadexit -n 100", in_flight=0)
    sentence = "hostile_lld plain -n 1000: two segments share a page of the file, counted exactly"
    if os.path.exists(f"{WORK}/hostile_lld"):
        test(sentence, exact, "hostile_lld -mode plain -n 1000")
    else:
        skip(sentence, "not built: no lld")
    for program, mode, left in LEFT_MODES:
        test(f"{program} {mode} -n 300 -g 2: counted exactly", exact,
             f"{program} -mode {mode} -n 300 -g 2", left=600 * left)
    test("hostile builtin -n 300: what cannot be seen to be left makes no call longer", builtin)
    test("recursion with returns that are single-stepped is charged as that", stepped_recursion)
    for program, mode, flags in FOUND_MODES:
        test(f"{program} {mode} {flags}: return sites are found while it runs", found,
             f"{program} -mode {mode} {flags}")
    for mode, flags in SWITCHED_MODES:
        test(f"hostile {mode} {flags}: on other stacks no call is made up", switched,
             f"hostile -mode {mode} {flags}")
    test("calls that another stack's calls are made in are left, and those are counted",
         left_by_a_switch)
    test("a function of a library that is loaded later is not found, and nothing is harmed", dlopen)
    done()


if __name__ == "__main__":
    main()
