#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_list.sh - `hbprof list` of files and of a process of our own; needs no root. What it says of real
# libraries is in tests/bpf/t_codecs.sh.
. "$(dirname "$0")/../tap.sh"

[ -x "$HBPROF" ] || {
    fail "hbprof was built" "$HBPROF is not there"
    done_testing
}
cc=${CC:-cc}
command -v "${cc%% *}" >/dev/null || skip_all "no C compiler"
cd "$HB_TMP" || exit 1

# ---- programs ----

cat >codecs.c <<'END'
#include <unistd.h>
#define F __attribute__((noinline))
static volatile int n;
F void *cJSON_Parse(const char *s) { n++; return (void *)s; }
F char *cJSON_Print(const void *o) { n++; return (char *)o; }
F int wire_put_a(const char *b, long len) { n++; return (int)len; }
F int wire_put_b(const char *b, long len) { n--; return (int)len; }
int main(void)
{
	char c;
	if (cJSON_Print(cJSON_Parse("{}")) && wire_put_a("", 0) + wire_put_b("", 0))
		return 1;
	return read(0, &c, 1) < 0;
}
END
cat >none.c <<'END'
int main(void) { return 0; }
END
for p in codecs none; do
    $cc -O1 -o $p $p.c 2>err || {
        fail "the compiler makes a program" "$(cat err)"
        done_testing
    }
done

export HBPROF_STATE=$HB_TMP/state

list() {
    "$HBPROF" list "$@" 2>err
}

# ---- what is there ----

out=$(list codecs)
is "$?" 0 "a program with codecs is exit status 0"
like "$out" '^codecs \(native\): 2 functions in 1 file$' "the first line counts"
like "$out" '^cJSON +decode +cJSON_Parse +n/a +[a-z]+ +1 \(1 [a-z]+\) +if nested +yes|^cJSON +decode +cJSON_Parse +n/a +[a-z]+ +1 \(1 [a-z]+\) +n/a +yes' \
    "a function has its entry, its return sites, and what is known of size and errors"
like "$out" '^cJSON +encode +cJSON_Print .* yes +yes +(low|raised) +n/a$' "a cost in words"
like "$out" 'Cost in ns: n/a .no calibration of this host yet.' "no cost in ns is claimed"
like "$out" '^cJSON +decode +cJSON_ParseWithLength +inlined, or never called' "what is missing has its reason"
is "$(grep -c '^encoding/json' <<<"$out")" 0 "codecs that are not here are not shown"
like "$out" 'more entry points are known.*--all' "but counted"
like "$(list --all codecs)" '^encoding/json +encode +encoding/json.Marshal +absent' "--all shows them"
like "$(list --exit=ret codecs)" 'cJSON_Parse .* ret ' "--exit=ret shows the returns of the function"
like "$(list --probe main=encode codecs)" '^probe +encode +main ' "--probe adds a function"
mkdir state
cp "$HB_SRC/tests/data/sample.hbp" state/calibration.hbp
chmod 644 state/calibration.hbp
like "$(list codecs)" 'Cost in ns: n/a .the calibration that is kept is of another ' \
    "a calibration of another machine is not shown"
mv state/calibration.hbp state/other.hbp
ln -s other.hbp state/calibration.hbp
like "$(list codecs)" 'Cost in ns: n/a .the file that keeps the calibration is a link' "a link is not followed"
rm state/calibration.hbp
list --format json codecs >out.json
ok "--format json is JSON with the same" python3 - <<'END'
import json
d = json.load(open("out.json"))
f = {x["function"]: x for x in d["functions"]}
assert sorted(f) == ["cJSON_Parse", "cJSON_Print"], f
assert f["cJSON_Print"]["size"] == "yes" and f["cJSON_Print"]["errors"] is True
assert f["cJSON_Parse"]["returns"] == sum(f["cJSON_Parse"]["returns_by_class"].values()) == 1
assert f["cJSON_Parse"]["cost_ns"] is None
states = {x["symbol"]: x["state"] for x in d["not_measured"]}
assert states["cJSON_ParseWithLength"] == "inlined" and "encoding/json.Marshal" not in states
END

sleep 100 | ./codecs &
pid=$!
reap $(jobs -p) "$pid"
for _ in $(seq 50); do
    [ "$(cat "/proc/$pid/comm")" = codecs ] && break
    sleep 0.1
done
like "$(list --pid "$pid")" "^process $pid \(native\): 2 functions in [0-9]+ files?$" \
    "a process and its libraries are listed"

# ---- files of codecs ----

codec_file() { # FILE, functions
    printf '{"format": 1, "libraries": [{"codec": "wire", "language": "c",\n"library": "libwire", "functions": [\n%s]}]}\n' "$2" >"$1"
}

codec_file wire.json '{"op": "encode", "symbol": "wire_put_a", "size": {"at": "entry", "word": 1}}'
like "$(list --codecs wire.json codecs)" '^wire +encode +wire_put_a .* yes +n/a ' "--codecs adds an entry"
codec_file more.json '{"op": "decode", "symbol": "wire_put_a"}'
like "$(list --codecs wire.json --codecs more.json codecs)" '^wire +decode +wire_put_a .* n/a +n/a ' \
    "a later file replaces it"

refused() { # SENTENCE FUNCTIONS REGEX
    codec_file bad.json "$2"
    list --codecs bad.json codecs >out
    is "$?/$(wc -c <out)/$(wc -l <err)" 1/0/1 "$1: exit status 1, one line"
    like "$(cat err)" "bad.json:$3" "$1: the line has file, line and key"
}

refused "a mistyped key" '{"op": "encode",
"simbol": "x"}' '4: "simbol": unknown key; did you mean "symbol"'
refused "a wrong word" '{"op": "encode", "symbol": "x",

"size": {"at": "begin", "word": 0}}' '5: "at": "begin" is none of "entry", "exit", "nested"'
refused "broken JSON" '{"op": "encode" "symbol": "x"}' '3: this is no JSON'
list --codecs /nonexistent.json codecs >out
is "$?" 1 "a file of codecs that is not there is exit status 1"
like "$(cat err)" '/nonexistent.json' "and is named"

# ---- nothing there, and what cannot be read ----

out=$(list none)
is "$?" 3 "a program without codecs is exit status 3"
like "$(cat err)" 'no known codec; looked for encoding/json, .*cJSON.* among [0-9]+ functions of 1 file' \
    "what was looked for and seen is said"
printf 'text' >text
list text >/dev/null
is "$?/$(grep -c 'no program or library' err)" 1/1 "a text file is exit status 1"
list "$HB_TMP" >/dev/null
is "$?" 1 "a folder is exit status 1"
list /nonexistent >/dev/null
is "$?" 1 "a missing file is exit status 1"
head -c 300 codecs >cut
list cut >/dev/null
is "$?" 1 "a file that is cut short is exit status 1"
mkfifo pipe
ok "a FIFO is not waited for" timeout 10 sh -c '"$1" list pipe 2>/dev/null; test $? = 1' sh "$HBPROF"
is "$(list --probe nothing codecs; echo $?)" 3 "a function that is not there is exit status 3"
# A kernel thread has no code: 2 is one, but in a container.
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ] && [ "$(id -u)" = 0 ]; then
    list --pid 2 >/dev/null
    is "$?/$(grep -c 'is a kernel thread' err)" 3/1 "a kernel thread is exit status 3"
else
    skip "a kernel thread is exit status 3" "none is to be seen here"
fi
ok "no target is a usage error" exits 2 "$HBPROF" list
ok "two targets are a usage error" exits 2 "$HBPROF" list --pid 1 codecs
ok "two processes are a usage error" exits 2 "$HBPROF" list --pid 1 --pid 2
ok "two files are a usage error" exits 2 "$HBPROF" list codecs none
ok "an unknown format is a usage error" exits 2 "$HBPROF" list --format xml codecs

done_testing
