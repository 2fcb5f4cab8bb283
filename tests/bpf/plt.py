# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Calls through procedure linkage tables: the return sites are there before the first call, so that
1,000 calls right after the start, which are over within some ms, are all counted.
"""
import os

from counts_c import found
from exact import exact
from live import WORK, done, skip, test

RUNS = [
    # Nothing but the linker's usual stubs.
    ("cjson_work", "parse"), ("cjson_work", "parselen"), ("cjson_work", "parseerr"),
    ("cjson_work", "print"), ("cjson_work", "printunformatted"), ("cjson_work", "threads"),
    ("cjson_noplt", "parse"), ("cjson_noplt", "print"),
    ("cjson_cet", "parse"), ("cjson_cet", "print"),
    ("cjson_fixed", "parse"), ("cjson_fixed", "print"),
    ("cjson_stripped", "parse"), ("cjson_stripped", "print"),
    # A library that calls itself through its PLT, not bound before the first call.
    ("hostile", "dso"),
]


def main():
    for program, mode in RUNS:
        test(f"{program} {mode}: no call is too early, all are counted", exact,
             f"{program} -mode {mode} -n 1000")
    name = "a Go program's calls of a codec in C: no call is too early, all are counted"
    if os.path.exists(f"{WORK}/gocgo"):
        test(name, exact, "gocgo -mode native -n 1000")
        test("the same through a pointer: return sites are found while it runs", found,
             "gocgo -mode pointer -n 1000 -rate 4000")
    else:
        skip(name, "not built: no Go >= 1.22")
    done()


if __name__ == "__main__":
    main()
