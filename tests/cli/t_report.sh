#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_report.sh - `hbprof report` over the capture in tests/data and over damaged copies of it.
. "$(dirname "$0")/../tap.sh"

[ -x "$HBPROF" ] || {
    fail "hbprof was built" "$HBPROF is not there"
    done_testing
}

data=$HB_SRC/tests/data
sample=$data/sample.hbp
unset COLUMNS

# remake FILE SED...: the sample with its JSON text changed.
remake() {
    local to=$1
    shift
    gzip -dc "$sample" | sed "$@" | gzip -n >"$HB_TMP/$to"
}

# refused SENTENCE FILE REGEX: exit status 1, nothing on stdout, one line on stderr that names the file.
refused() {
    local out err status
    out=$("$HBPROF" report "$2" 2>"$HB_TMP/err")
    status=$?
    err=$(cat "$HB_TMP/err")
    if [ "$status" = 1 ] && [ -z "$out" ] && [ "$(wc -l <"$HB_TMP/err")" = 1 ] &&
        grep -Fq -- "$2" <<<"$err" && grep -Eq -- "$3" <<<"$err"; then
        pass "$1"
    else
        fail "$1" "status $status, stderr: $err, stdout: ${out:0:200}"
    fi
}

# ---- captures of former versions ----

# old FILE VERSION NOW: the rows are those of the present version, and none has counters.
old() {
    is "$(gzip -dc "$data/$1" | grep -o '"version":\[[0-9],[0-9]\]')" "\"version\":[$2]" "$1 is of $2"
    is "$("$HBPROF" report --format csv --by size "$data/$1")" \
        "$("$HBPROF" report --format csv --by size "$data/$3")" "- and has the rows of $3"
    ok "- and is compared" sh -c \
        "'$HBPROF' compare '$data/$1' '$data/$3' >'$HB_TMP/old.txt' 2>&1 && grep -q '1.00' '$HB_TMP/old.txt'"
}
old sample-1.0.hbp 1,0 sample.hbp
old sample-stacks-1.1.hbp 1,1 sample-stacks.hbp

# ---- what it does not write over ----

cp "$sample" "$HB_TMP/in.hbp"
ln "$HB_TMP/in.hbp" "$HB_TMP/link.hbp"
echo 'a;b 1' >"$HB_TMP/in.folded"
for args in "report $HB_TMP/in.hbp -o $HB_TMP/in.hbp" "report $HB_TMP/in.hbp -o $HB_TMP/link.hbp" \
    "export --format csv $HB_TMP/in.hbp -o $HB_TMP/in.hbp" \
    "flamegraph $HB_TMP/in.folded -o $HB_TMP/in.folded" \
    "compare $HB_TMP/in.hbp $sample -o $HB_TMP/in.hbp" \
    "merge $sample $HB_TMP/in.hbp -o $HB_TMP/in.hbp"; do
    # shellcheck disable=SC2086
    "$HBPROF" $args >"$HB_TMP/out" 2>"$HB_TMP/err"
    is "$? $(grep -c 'is the input' "$HB_TMP/err")" "2 1" "${args%% *} does not write over what it reads"
done
ok "and its inputs are as they were" cmp "$HB_TMP/in.hbp" "$sample"
rm "$HB_TMP/link.hbp"

# ---- what it prints ----

for width in 80 120 200; do
    is "$(COLUMNS=$width "$HBPROF" report "$sample")" "$(cat "$data/report-$width.txt")" \
        "the table at $width columns is the one in tests/data"
done
is "$(COLUMNS=80 "$HBPROF" report --wide "$sample")" "$(cat "$data/report-wide.txt")" \
    "--wide ignores the width of the terminal"
is "$(COLUMNS=120 "$HBPROF" report --by size "$sample")" "$(cat "$data/report-size.txt")" \
    "--by size adds the size classes"
is "$(COLUMNS=120 "$HBPROF" report --by process "$sample")" "$(cat "$data/report-process.txt")" \
    "--by process has rows for each process"
is "$("$HBPROF" report --format json "$sample")" "$(cat "$data/report.json")" \
    "--format json is the one in tests/data"
is "$("$HBPROF" report --format=json - <"$sample")" "$(cat "$data/report.json")" \
    "- reads standard input"
is "$(gzip -dc "$sample" | gzip -1 -n | "$HBPROF" report --format=json -)" "$(cat "$data/report.json")" \
    "a capture that was compressed by gzip is the same capture"

ok "-o writes a file" "$HBPROF" report "$sample" --format json -o "$HB_TMP/out.json"
ok "the file is the same report" cmp "$HB_TMP/out.json" "$data/report.json"
is "$("$HBPROF" report --format json -o - "$sample")" "$(cat "$data/report.json")" "-o - is stdout"

# ---- what it says of the measurement ----

remake gap.hbp 's/"entries":"104038"/"entries":"104046"/; s/"entries":"104099"/"entries":"104107"/'
like "$("$HBPROF" report "$HB_TMP/gap.hbp")" '^NOT BALANCED 8 calls began and are nowhere' \
    "a coverage that does not add up is said loudly"
remake minor.hbp 's/"version":\[1,[0-9]*\]/"version":[1,99],"unheard_of":{"a":[1,2]}/'
is "$("$HBPROF" report --format json "$HB_TMP/minor.hbp")" "$(cat "$data/report.json")" \
    "a newer minor version with unknown keys is read"

# ---- what it refuses ----

remake major.hbp 's/"version":\[1,[0-9]*\]/"version":[2,0]/'
refused "a newer major version is refused and says so" "$HB_TMP/major.hbp" 'newer hbprof'
head -c 1000 "$sample" >"$HB_TMP/cut.hbp"
refused "a cut capture is refused" "$HB_TMP/cut.hbp" 'cut short'
{ cat "$sample" && echo more; } >"$HB_TMP/long.hbp"
refused "bytes after the capture are refused" "$HB_TMP/long.hbp" 'more data'
: >"$HB_TMP/empty.hbp"
refused "an empty file is refused" "$HB_TMP/empty.hbp" 'empty'
refused "a file of another kind is refused" "$data/report.json" 'not an hbprof capture'
echo '{"a":1}' | gzip >"$HB_TMP/foreign.hbp"
refused "a compressed file of another kind is refused" "$HB_TMP/foreign.hbp" 'not an hbprof capture'
refused "a missing file is named" "$HB_TMP/none.hbp" 'No such file'
refused "a folder is refused" "$HB_TMP" '.'
remake index.hbp 's/"func":2/"func":77/'
refused "an index that points nowhere is refused" "$HB_TMP/index.hbp" 'function 77'
remake total.hbp 's/"entries":"104099"/"entries":"104107"/'
refused "a total that is not the sum of its parts is refused" "$HB_TMP/total.hbp" 'entries'

# ---- usage and write errors ----

ok "no file is a usage error" exits 2 "$HBPROF" report
ok "two files are a usage error" exits 2 "$HBPROF" report "$sample" "$sample"
ok "an unknown option is a usage error" exits 2 "$HBPROF" report --nonsense "$sample"
ok "an unknown format is a usage error" exits 2 "$HBPROF" report --format xml "$sample"
ok "an unknown --by is a usage error" exits 2 "$HBPROF" report --by phase "$sample"

if [ -c /dev/full ]; then
    "$HBPROF" report "$sample" >/dev/full 2>"$HB_TMP/err"
    is $? 1 "a full disk behind stdout is exit status 1"
    like "$(cat "$HB_TMP/err")" 'standard output.*No space left' "and is said"
    is "$(wc -l <"$HB_TMP/err")" 1 "in one line"
else
    skip "a full disk behind stdout is exit status 1" "no /dev/full"
fi

# The reader is gone before the report comes.
{
    sleep 0.2
    "$HBPROF" report "$sample" 2>"$HB_TMP/err"
    echo $? >"$HB_TMP/status"
} | true
is "$(cat "$HB_TMP/status")" 1 "a closed pipe is exit status 1, not a signal"
like "$(cat "$HB_TMP/err")" 'standard output.*Broken pipe' "and is said"

# Numbers that find no room on the line join the tail; only names may be wider.
for width in 40 52 66; do
    wide=$(COLUMNS=$width "$HBPROF" report "$sample" | sed -n '/calls\/s/,/^$/p' |
        grep -E '^ ' | awk -v w="$width" 'length($0) > w' | wc -l)
    is "$wide" 0 "no line of numbers is wider than $width columns"
done

# A new file takes the old one's place: it would remove a FIFO that somebody reads from.
mkfifo "$HB_TMP/fifo"
for args in "report $sample" "export --format csv $sample" "compare $sample $sample" \
    "flamegraph $data/flame.folded"; do
    # shellcheck disable=SC2086
    "$HBPROF" $args -o "$HB_TMP/fifo" 2>"$HB_TMP/err" >/dev/null
    is "$?/$(wc -l <"$HB_TMP/err")" 1/1 "${args%% *} -o into a FIFO is refused in one line"
    like "$(cat "$HB_TMP/err")" "fifo, which is a FIFO: .*'-o -'" "it is said what it is and what helps"
    ok "${args%% *} leaves the FIFO where it is" test -p "$HB_TMP/fifo"
done
"$HBPROF" report "$sample" -o /dev/null 2>"$HB_TMP/err"
like "$(cat "$HB_TMP/err")" "/dev/null, which is a device: " "a device is called one"

ok "-o into a missing folder fails" exits 1 "$HBPROF" report "$sample" -o "$HB_TMP/no/out"

done_testing
