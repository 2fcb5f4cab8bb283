# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names that are not one function here: of two libraries, of an IFUNC, of an import, a pattern of thousands;
and a version of Go that nothing is known of. Each is said, and what can be measured is.
"""
import json
import os
import re
import shlex

from exact import check_balance, check_exact
from live import HBPROF, WORK, Broken, Hbprof, Workload, done, run, skip, test, tmp

CC = shlex.split(os.environ.get("CC", "cc"))
GO = f"{WORK}/gojson_plain"

LIBRARY = "int shared_name(int n)\n{\n\tfor (volatile int i = 0; i < 100; i++)\n\t\tn += i;\n\treturn n;\n}\n"
PROGRAM = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int (*f[2])(int), n = 0;

	for (int i = 0; i < 2; i++) {
		void *lib = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL);

		*(void **)&f[i] = lib ? dlsym(lib, "shared_name") : NULL;
		if (!f[i])
			return 1;
	}
	printf("PID %d\nREADY\n", (int)getpid());
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	n += f[0](n) + f[1](n); /* a return site that is found by its first call */
	usleep(200000);
	for (int i = 1; i < 30; i++)
		n += f[0](n);
	for (int i = 1; i < 50; i++)
		n += f[1](n);
	printf("DONE\n");
	fflush(stdout);
	return n == 1 || getchar() == EOF;
}
"""


def compile_c(name, text, *flags):
    src, out = f"{tmp}/{name}.c", f"{tmp}/{name}"
    with open(src, "w") as f:
        f.write(text)
    r = run([*CC, "-O1", *flags, "-o", out, src, "-ldl"])
    if r.returncode:
        raise Broken(r.stderr)
    return out


def two_libraries():
    libs = [compile_c(f"lib{x}.so", LIBRARY, "-shared", "-fPIC") for x in ("one", "two")]
    argv = [compile_c("two_libraries", PROGRAM), *libs]
    with Workload("two_libraries", argv) as w:
        listed = run([HBPROF, "list", "--pid", str(w.pid), "--probe", "shared_name"]).stdout
        with Hbprof(w.pid, "--probe", "shared_name") as h:
            h.wait_measuring()
            w.run()
            report = h.report()
    wrong = check_balance(report)
    entries = sorted(f["entries"] for f in report["functions"] if f["function"] == "shared_name")
    if entries != [30, 50]:
        wrong.append(f"entries {entries}, not 30 and 50")
    if len(re.findall(r"^probe +call +shared_name ", listed, re.M)) != 2:
        wrong.append(f"list does not show both:\n{listed}")
    return wrong


def refused(name):
    """An import is in no file with its code here: libc's memcpy is chosen by an IFUNC."""
    with Workload("spin -mode push -n 10") as w:
        r = run([HBPROF, "--pid", str(w.pid), "--probe", name, "-d", "100ms"])
    if r.returncode != 3 or not re.search(
            f"--probe '{name}': only imported here, or an IFUNC whose body has another name; name ", r.stderr):
        return [f"exit status {r.returncode}", r.stderr]
    return []


def imported(program, name):
    r = run([HBPROF, "list", "--probe", name, f"{WORK}/{program}"])
    return [] if r.returncode == 3 and f"--probe '{name}': only imported here" in r.stderr else \
        [f"exit status {r.returncode}", r.stderr]


def too_many():
    """The pattern is left out, with its count; the codecs are measured as without it."""
    path = f"{tmp}/many.json"
    with open(path, "w") as f:
        json.dump({"format": 1, "libraries": [
            {"codec": "many", "language": "go", "library": "runtime",
             "functions": [{"op": "call", "symbol": "runtime.{any}"}]}]}, f)
    with Workload("gojson_plain -mode marshal -n 100") as w, Hbprof(w.pid, "--codecs", path) as h:
        h.wait_measuring()
        w.run()
        status, out, err = h.stop()
        report = json.loads(out)
        wrong = check_exact(report, w.lines.seen)
    m = re.search(r"(\d+) functions match 'runtime\.\{any\}' of many, more than 256: none", err)
    if not m or int(m[1]) < 1000:
        wrong.append(f"thousands of functions are not told:\n{err}")
    if any(f["codec"] == "many" for f in report["functions"]):
        wrong.append("some of them are measured all the same")
    return wrong + ([f"exit status {status}"] if status else [])


def unknown_go(mode, exact):
    """The version is in two places of the file: the build info and the runtime's own variable."""
    version = re.search(rb"go1\.\d\d\.\d+", open(GO, "rb").read())[0]
    with open(GO, "rb") as f:
        text = f.read().replace(version, b"go1.99.8"[:len(version)].ljust(len(version), b"9"))
    path = f"{tmp}/go_of_the_future"
    with open(path, "wb") as f:
        f.write(text)
    os.chmod(path, 0o755)
    with Workload("go_of_the_future", [path, *mode.split()]) as w, Hbprof(w.pid) as h:
        h.wait_measuring()
        w.run()
        report = h.report()
        wrong = check_exact(report, w.lines.seen) if exact else check_balance(report)
        wrong += [f"exit status {w.p.returncode}"] if w.finish() else []
    if not any("go1.99." in x and "layout is not known" in x for x in report["warnings"]):
        wrong.append(f"no warning: {report['warnings']}")
    return wrong


test("a name in two libraries is two functions, and both are measured", two_libraries)
test("an IFUNC is refused by name", refused, "memcpy")
test("a function that is only imported is refused by name", imported, "cjson_work", "cJSON_Parse")
if os.path.exists(GO):
    test("a pattern of thousands of functions is left out, with their number", too_many)
    test("a Go whose layout is not known is named, and counted", unknown_go, "-mode marshal -n 500", True)
    test("and after panics its counts still balance", unknown_go, "-mode panicmix -n 100", False)
else:
    for what in ("a pattern of thousands of functions", "a Go whose layout is not known"):
        skip(what, "no Go >= 1.22")
done()
