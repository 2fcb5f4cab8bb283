# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--exit=ret: the ends of calls are seen at the return instructions. It counts the same, and no
return site is ever unknown; on x86-64 each return is single-stepped, so there are fewer calls here.
"""
import os

from counts_c import LEFT_MODES, SWITCHED_MODES, check_switched, found
from counts_go import PANICMIX_LEFT
from exact import Measured, exact
from live import WORK, done, skip, test

# Each of cJSON's functions but one ends in a jump to another: return sites are used for those.
JUMP_MODES = [
    ("cjson_work", "parse", "-n 500 -rate 4000"),
    ("cjson_work", "parselen", "-n 500 -rate 4000"),
    ("cjson_work", "print", "-n 500 -rate 4000"),
    ("cjson_work", "printunformatted", "-n 500 -rate 4000"),
    ("cjson_work", "parseerr", "-n 501 -rate 4000"),
    ("cjson_work", "threads", "-n 100 -rate 800"),
]
C_MODES = [
    ("spin", "spin", "-n 200 -iters 200"),
    ("spin", "cost", "-n 320"),
    ("hostile", "plain", "-n 200"),
    ("hostile", "threads", "-n 50"),
    ("hostile", "recursion", "-n 3"),
    ("hostile", "seccomp", "-n 100"),
    ("hostile", "tailcalls", "-n 100"),
    ("hostile", "funcptr", "-n 100"),
    ("hostile", "dso", "-n 100"),
    ("hostile_cxx", "throw", "-n 99"),
]
GO_MODES = [
    ("marshal", "-n 200"),
    ("unmarshal", "-n 200"),
    ("indent", "-n 200"),
    ("encoder", "-n 200"),
    ("decoder", "-n 200"),
    ("mixed", "-n 200 -g 2 -procs 4 -gc"),
    ("decodeerr", "-n 201"),
    ("encodeerr", "-n 201"),
    ("spin", "-n 200 -iters 300"),
    ("spinouter", "-n 200 -iters 300 -own 100"),
    ("grow", "-n 400"),
    ("recursion", "-n 20 -g 2"),
    ("panic", "-n 200 -g 2"),
    ("goexit", "-n 200"),
    ("block", "-n 50 -g 8"),
    ("goroutines", "-n 1 -g 2000"),
    ("callers", "-n 100"),
]


def switched(name):
    m = Measured(name, "--exit=ret")
    return m.judge(check_switched(m))


def main():
    for program, mode, flags in C_MODES:
        test(f"{program} {mode} {flags}: counted exactly at returns", exact,
             f"{program} -mode {mode} {flags}", "--exit=ret")
    for program, mode, flags in JUMP_MODES:
        test(f"{program} {mode} {flags}: functions that leave by a jump use return sites", found,
             f"{program} -mode {mode} {flags}", "--exit=ret")
    for program, mode, left in LEFT_MODES:
        test(f"{program} {mode}: counted exactly at returns", exact,
             f"{program} -mode {mode} -n 50 -g 2", "--exit=ret", left=100 * left)
    for mode, flags in SWITCHED_MODES:
        test(f"hostile {mode}: at returns, too, no call is made up", switched,
             f"hostile -mode {mode} -n 50")
    if not os.path.exists(f"{WORK}/gojson_plain"):
        skip("every call of a Go program is counted at its return", "not built: no Go >= 1.22")
        done()
    for mode, flags in GO_MODES:
        test(f"{mode} {flags}: counted exactly at returns", exact,
             f"gojson_plain -mode {mode} {flags}", "--exit=ret", exit_mode="ret")
    test("panicmix: counted exactly at returns", exact, "gojson_plain -mode panicmix -n 40 -g 2",
         "--exit=ret", exit_mode="ret", left=80 * PANICMIX_LEFT)
    test("cgo nested: counted exactly at returns", exact, "gocgo -mode nested -n 50", "--exit=ret")
    done()


if __name__ == "__main__":
    main()
