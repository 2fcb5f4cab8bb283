#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_check.sh - what `hbprof check` prints, on any machine and without privileges. Whether it is true is
# tested by tests/bpf/t_check.sh.
. "$(dirname "$0")/../tap.sh"

[ -x "$HBPROF" ] || {
    fail "hbprof was built" "$HBPROF is not there"
    done_testing
}

check() { # arguments: sets out, err, rc
    out=$("$HBPROF" check "$@" 2>"$HB_TMP/err")
    rc=$?
    err=$(cat "$HB_TMP/err")
}

consistent() { # the JSON document, and the exit status that came with it
    python3 - "$1" "$2" <<'END'
import json, sys
d, rc = json.loads(sys.argv[1]), int(sys.argv[2])
checks = d["checks"]
names = [c["name"] for c in checks]
assert len(names) == len(set(names)) >= 25, names
for c in checks:
    assert c["result"] in ("ok", "warn", "fail", "unknown"), c
    assert c["detail"] and c["needed_for"], c
    assert c["result"] != "fail" or c["remedy"], c
    assert c["result"] != "ok" or not c["remedy"], c
failed = [c["name"] for c in checks if c["result"] == "fail"]
assert d["can_measure"] == (not failed), (d["can_measure"], failed)
assert rc == (1 if failed else 0), (rc, failed)
assert d["host"]["arch"] and d["hbprof"]
END
}

check --json
ok "the JSON document, its verdict and the exit status agree" consistent "$out" "$rc"
is "$err" "" "nothing goes to stderr"
json=$out status=$rc

check
is "$rc" "$status" "the table has the same exit status"
like "$out" '^hbprof can(not)? measure here' "the table ends with a verdict"
for name in $(python3 -c '
import json, sys
print(*[c["name"] for c in json.loads(sys.argv[1])["checks"]])' "$json"); do
    grep -qE "^(ok|warn|fail|unknown) +$name " <<<"$out" || missing+=" $name"
    grep -qE "\*$name\*" "$HB_SRC/docs/man/hbprof-check.1.scd" || unwritten+=" $name"
done
is "${missing:-}" "" "every check of the JSON document is in the table"
is "${unwritten:-}" "" "every check is in the manual page"

# As somebody who may nothing. Its own copy: the folders above the build may be closed to others.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$HB_TMP"
    cp "$HBPROF" "$HB_TMP/hbprof"
    chmod 755 "$HB_TMP/hbprof"
    nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all "$HB_TMP/hbprof" check)
    if ! "${nobody[@]}" --usage >/dev/null 2>&1; then
        skip "a user without capabilities cannot measure" "a user of no rights cannot run $HB_TMP/hbprof"
    else
        out=$("${nobody[@]}" --json 2>&1)
        rc=$?
        ok "document, verdict and exit status agree for a user without capabilities" consistent "$out" "$rc"
        is "$rc" 1 "a user without capabilities cannot measure"
        like "$("${nobody[@]}" 2>&1)" '^Root would ' "and is told what root would change"
    fi
else
    skip "a user without capabilities cannot measure" "needs root, to become another user"
fi

if command -v unshare >/dev/null && unshare -rUpf --mount-proc true 2>/dev/null; then
    out=$(unshare -rUpf --mount-proc "$HBPROF" check 2>&1)
    is "$?" 1 "in a container without root nothing can be measured"
    like "$out" '^warn +pid_namespace ' "and the PID namespace is named"
    like "$out" '^fail +user_namespace ' "and the user namespace is named"
else
    skip "in a container without root nothing can be measured" "no namespaces may be made here"
fi

ok "an argument is a usage error" exits 2 "$HBPROF" check something
ok "an unknown option is a usage error" exits 2 "$HBPROF" check --nonsense
if [ -c /dev/full ]; then
    "$HBPROF" check >/dev/full 2>/dev/null
    is $? 1 "a full disk behind stdout is a failure"
fi

done_testing
