#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_main.sh - how hbprof finds its command, and what it answers when there is none.
. "$(dirname "$0")/../tap.sh"

run() { # arguments: sets out, err, rc
    out=$("$HBPROF" "$@" 2>"$HB_TMP/err")
    rc=$?
    err=$(cat "$HB_TMP/err")
}

run
is "$rc/$out" "2/" "without arguments it is a usage error, and nothing goes to stdout"
like "$err" '^Usage: hbprof --pid N' "without arguments the usage is shown"

run --help
is "$rc/$err" "0/" "--help succeeds silently on stderr"
like "$out" '^  report ' "--help lists the commands"

run --version
version=$(sed -n 's/^#define HBPROF_VERSION "\(.*\)"/\1/p' "$HB_SRC/include/hbprof/version.h")
is "$rc/$(head -n 1 <<<"$out")" "0/hbprof $version" "--version begins with the version"
like "$out" 'libbpf [0-9.]+, libelf [0-9.]+, zlib [0-9.]+, cJSON [0-9.]+, Zydis [1-9][0-9.]*$' \
    "--version says what was built in"

run reprot x.hbp
is "$rc" 2 "an unknown command is a usage error"
is "$(wc -l <<<"$err")" 1 "an unknown command is answered in one line"
like "$err" "unknown command 'reprot'; did you mean 'report'" "the near command is named"

run re
like "$err" "'record' or 'report'" "every near command is named"

run frobnicate
like "$err" "'hbprof help' lists the commands" "where nothing is near, help is"

run help frobnicate
is "$rc" 2 "help for an unknown command is a usage error"

run help report
is "$rc" 0 "help for a command succeeds"
like "$out" '^Usage: hbprof report' "help for a command shows its usage under its full name"

run report --nonsense
is "$rc" 2 "an unknown option of a command is a usage error"
like "$err" '^hbprof report: ' "a command's usage error begins with its full name"

run --nonsense
is "$rc" 2 "an unknown option without a command is a usage error"

run --pid
is "$rc" 2 "an option without its value is a usage error"

run --pid 1 --sched-rates
is "$rc" 2 "--sched-rates without --requests is a usage error"
like "$err" '^hbprof: --sched-rates is of requests: add --requests' "it says what is missing"

run --pid 1 --follow-go
is "$rc" 2 "--follow-go without --requests is a usage error"
like "$err" '^hbprof: --follow-go is of requests: add --requests' "it says what is missing"

run --pid 1 --max-conns=5
is "$rc" 2 "so is --max-conns"
like "$err" '^hbprof: --max-conns is of requests: add --requests' "and it says what is missing"

run report
is "$rc" 2 "report without a file is a usage error"

run report "$HB_TMP/none.hbp"
is "$rc" 1 "a file that is not there is a failure"
like "$err" "none.hbp" "a file that is not there is named"

if [ -e /dev/full ]; then
    "$HBPROF" --version >/dev/full 2>"$HB_TMP/err"
    is "$?" 1 "output that could not be written is a failure"
    like "$(cat "$HB_TMP/err")" 'standard output' "output that could not be written is said"
    for args in --help help "help help" "help --help" "record --help" "report --help" "list --help"; do
        # shellcheck disable=SC2086
        "$HBPROF" $args >/dev/full 2>"$HB_TMP/err"
        is "$?/$(wc -l <"$HB_TMP/err")" 1/1 "'$args' into a full disk is exit status 1 and one line"
    done
else
    skip "output that could not be written is a failure" "no /dev/full"
fi

run help --help
is "$rc/$(head -c 6 <<<"$out")" "0/Usage:" "the help of help is the list of commands"

# An empty argument is a variable that was never set: said before any work, whatever the command.
cd "$HB_SRC/tests/data" || exit 1
sample=sample.hbp
for args in '--pid 1 -o' '--pid 1 --codecs' 'report' "report $sample -o" 'flamegraph' "flamegraph $sample -o" \
    "flamegraph $sample --diff" "flamegraph $sample --color-by" "export $sample --format csv -o" 'export --format csv' \
    "merge $sample" "merge $sample $sample -o" "compare $sample" "compare $sample $sample -o" 'list' \
    'list sample.hbp --codecs'; do
    # shellcheck disable=SC2086 # words
    run $args ''
    like "$rc/$out/$err" "^2//.*'' names no file" "an empty name is a usage error: $args ''"
done

done_testing
