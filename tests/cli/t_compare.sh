#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_compare.sh - `hbprof compare` and `hbprof merge` over captures that tests/data/make_compare.c draws.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../captures.sh"

[ -x "$HBPROF" ] || {
    fail "hbprof was built" "$HBPROF is not there"
    done_testing
}
unset COLUMNS

if ! make_captures "$HB_TMP"; then
    fail "the captures were made" "$(cat "$HB_TMP/log")"
    done_testing
fi
cd "$HB_TMP" || exit 1

compare() { "$HBPROF" compare "$@"; }

# refused SENTENCE STATUS REGEX ARG...: this exit status, nothing on stdout, stderr as told.
refused() {
    local sentence=$1 want=$2 re=$3 out status
    shift 3
    out=$("$HBPROF" "$@" 2>err)
    status=$?
    if [ "$status" = "$want" ] && [ -z "$out" ] && grep -Eq -- "$re" err; then
        pass "$sentence"
    else
        fail "$sentence" "status $status, stderr: $(cat err), stdout: ${out:0:200}"
    fi
}

# ---- what it says ----

text=$(COLUMNS=120 compare base.hbp fast.hbp)
is $? 0 "two captures are compared"
like "$text" 'Marshal000 +mean .* faster$' "a lower mean is called faster"
like "$text" ' P50 +8\.[0-9]+us +5\.[0-9]+us +0\.6[0-9]+ +0\.[56][0-9]+\.\.0\.6[0-9]+ +faster$' \
    "values, ratio and limits stand in one line"
like "$text" ' calls/s .* no difference shown$' "the same rate is not called different"
like "$text" ' P99\.9 +n/a .* too few calls \[[0-9]\]$' "a percentile without calls is n/a, with its reason"
like "$text" '^WARNING +architecture: base has x86_64, fast has aarch64' "another architecture is named"
like "$text" 'other code under the same' "another library version is named"
like "$text" 'cannot$|cannot be known' "one run a side: that is said"
like "$(compare base.hbp slow.hbp)" 'P99 .* slower$' "a higher P99 is called slower"
text=$(compare slow.hbp base.hbp --metric p99 --codec EXAMPLE)
is "$(grep -cE ' P(50|90) ' <<<"$text")" 0 "--metric shows no other metric"
like "$text" 'P99 .* faster$' "the first capture is what the others are compared with"

for width in 80 120 200; do
    is "$(COLUMNS=$width compare base.hbp fast.hbp slow.hbp sizes.hbp short.hbp | awk -v w=$width 'length > w')" \
        "" "no line is wider than $width columns"
done
text=$(COLUMNS=150 compare base.hbp fast.hbp slow.hbp --label one --label two --metric p50)
like "$text" 'metric +one +two +slow$' "labels are the titles of columns"
like "$text" 'P50 +8\.[0-9]+us +5\.[0-9]+us x0\.6[0-9]* faster +9\.[0-9]+us x1\.[0-9]+ slower' \
    "three captures make a scaling table"

# ---- what it does not say ----

like "$(compare base.hbp sizes.hbp --metric p50)" 'P50 .* not comparable \[' \
    "other payload sizes are not compared"
like "$(compare base.hbp sizes.hbp)" 'other payload sizes: see --by size' "with the reason"
like "$(compare base.hbp emulated.hbp)" 'one ran on an emulated CPU' "an emulated CPU is not compared"
like "$(compare base.hbp short.hbp --wide)" 'short has calls in 3 intervals, 8 are needed' \
    "three seconds are too few intervals"
is "$(compare run1.hbp run2.hbp run3.hbp : run4.hbp run5.hbp run6.hbp --metric p50 | grep -c ' slower')" \
    3 "runs that are slower as a group are called so"
is "$(compare run1.hbp run3.hbp : run2.hbp base.hbp | grep -cE ' (slower|faster)( |$)')" 0 \
    "runs that differ by themselves are no difference"
like "$(compare run1.hbp run2.hbp : base.hbp)" 'one run against several: its spread is not known' \
    "one run against several is refused"
cp base.hbp twin.hbp
text=$(compare base.hbp twin.hbp : slow.hbp slow.hbp --metric p50 --wide)
is "$(grep -cE ' (slower|faster)( |$)' <<<"$text")" 0 "one recording twice is not two runs"
like "$text" 'runs of slow hold the same calls' "with the reason"
like "$text" 'WARNING +slow: slow.hbp and slow.hbp were recorded at the same time' "and the files by name"
HB_rc=0
compare base.hbp twin.hbp : slow.hbp slow.hbp --fail-over 5% >/dev/null 2>&1 || HB_rc=$?
is "$HB_rc" 1 "nor is it a result for --fail-over"
refused "captures with nothing in common are told" 1 'nothing to compare: no function has calls' \
    compare base.hbp other.hbp
like "$(compare base.hbp other.hbp 2>&1)" 'other has wire encode other.org/wire.Pack[012], wire' "with what each has"
refused "a codec that is in none is told" 1 'of the codecs asked for' \
    compare base.hbp fast.hbp --codec cJSON

# ---- the order ----

text=$(COLUMNS=150 compare procs8.hbp procs1.hbp procs2.hbp --order-by gomaxprocs --metric p50)
like "$text" 'metric +procs1 +procs2 +procs8$' "--order-by sorts the columns by a number, not by its digits"
like "$text" '^order +by gomaxprocs: procs1 1, procs2 2, procs8 8$' "and says what each has"
like "$text" '^WARNING +GOMAXPROCS: procs1 has 1, procs2 has 2' "another GOMAXPROCS is warned of"
like "$(COLUMNS=150 compare procs8.hbp procs1.hbp --label eight --order-by gomaxprocs --metric p50)" \
    'metric +procs1 +eight ' "labels stay with their captures"
refused "a fact that a capture lacks is told" 1 'cannot order by gomaxprocs: base.hbp does not tell' \
    compare procs1.hbp base.hbp --order-by gomaxprocs
refused "runs of one side that differ in the fact are told" 1 'differ in gomaxprocs: 1 and 2' \
    compare procs1.hbp procs2.hbp : procs8.hbp procs8.hbp --order-by gomaxprocs
compare base.hbp slow.hbp --order-by cpus -o out.txt 2>err
is $? 0 "a fact that is the same everywhere is no error"
like "$(cat err)" 'all captures have cpus 16' "but is told"

# ---- thresholds ----

ok "--fail-over passes when nothing got worse" exits 0 \
    "$HBPROF" compare base.hbp fast.hbp --fail-over 10% --metric p50 -o out.txt
ok "--fail-over trips with 4" exits 4 \
    "$HBPROF" compare base.hbp slow.hbp --fail-over 10% --metric p50 -o out.txt
ok "--fail-over does not trip below its limit" exits 0 \
    "$HBPROF" compare base.hbp slow.hbp --fail-over 25% --metric p50 -o out.txt
compare base.hbp sizes.hbp --fail-over 10% --metric p99 -o out.txt 2>err
is $? 1 "--fail-over that could judge nothing fails"
like "$(cat err)" 'could judge nothing' "and says so"

# ---- the other forms ----

compare base.hbp fast.hbp --format json >out.json
if command -v python3 >/dev/null; then
    is "$(python3 -c '
import json
d = json.load(open("out.json"))
m = {m["metric"]: m for m in d["rows"][0]["metrics"]}["p50"]["sides"]
print(d["confidence"], d["common_rows"], m[1]["verdict"], m[0]["value"] > m[1]["value"],
      m[1]["ratio_low"] < m[1]["ratio"] < m[1]["ratio_high"], m[1]["p_corrected"] < 0.05)')" \
        "0.95 3 faster True True True" "JSON has values, limits and verdicts"
    compare base.hbp fast.hbp other.hbp --format html -o scale.html
    plots=$(grep -c '<div class="plots">' scale.html)
    is "$(grep -c '<svg class="scale"' scale.html)/$((plots > 0))" "$plots/1" \
        "three captures have a picture of how each row moves from one to the next"
    compare base.hbp fast.hbp --format html -o two.html
    is "$(grep -c '<svg class="scale"' two.html)" 0 "two captures have none"
    compare procs8.hbp procs1.hbp procs2.hbp --order-by gomaxprocs --format json >order.json
    is "$(python3 -c '
import json
d = json.load(open("order.json"))
print(d["order_by"], [s["order"] for s in d["sides"]])')" \
        "{'fact': 'gomaxprocs', 'numeric': True} ['1', '2', '8']" "JSON has the order"
    compare odd.hbp odd.hbp --format html -o out.html
    is "$(python3 -c '
import html.parser
void = {"meta", "line", "circle", "polyline", "br"}
class Parser(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.bad = [], []
    def handle_starttag(self, tag, attrs):
        if tag in ("script", "link", "img", "iframe", "b") and tag != "b":
            self.bad.append(tag)
        self.bad += [k for k, v in attrs if k.startswith("on") or k in ("src", "href")]
        if tag not in void:
            self.open.append(tag)
    def handle_endtag(self, tag):
        if tag not in void and (not self.open or self.open.pop() != tag):
            self.bad.append("/" + tag)
p = Parser()
p.feed(open("out.html").read())
print(p.open, p.bad)')" "[] []" "the page is well nested, loads nothing and runs nothing"
else
    skip "JSON has values, limits and verdicts" "no python3"
    skip "the page is well nested, loads nothing and runs nothing" "no python3"
fi
is "$(grep -c '&lt;script&gt;alert(&#39;&quot;&amp;\\x1b\[31m\\xff&quot;)' out.html)" 1 \
    "names that are markup are text"
like "$(cat out.html)" 'they hold the same calls' "a capture against itself is named"
like "$(compare odd.hbp odd.hbp)" '<script>alert.*x1b\[31m' "control bytes are shown, not sent"

# ---- foreign files and usage ----

head -c 1000 base.hbp >cut.hbp
refused "a codec that is not there is not said to be a capture without calls" 1 \
    'base has no calls of these codecs' compare base.hbp fast.hbp --codec nope
long=$(printf 'x%.0s' $(seq 63))
like "$(compare base.hbp fast.hbp --label "$long" --label "$long" --wide)" 'x#2 = fast.hbp' \
    "long labels that are the same are told apart"
refused "a cut capture is refused" 1 'cut.hbp: .*cut short' compare base.hbp cut.hbp
refused "a missing file is named" 1 'none.hbp.*No such file' compare none.hbp base.hbp
refused "a file of another kind is refused" 1 'not an hbprof capture' compare base.hbp out.json
refused "one capture is a usage error" 2 'two captures or more' compare base.hbp
refused "an empty side is a usage error" 2 "side of a ':'" compare base.hbp : : fast.hbp
refused "a colon at the end is a usage error" 2 "behind the last ':'" compare base.hbp : fast.hbp :
refused "an unknown metric is a usage error" 2 'unknown metric.*or a counter' compare base.hbp fast.hbp --metric p42
refused "a threshold without % is a usage error" 2 'percentage like 10%' \
    compare base.hbp fast.hbp --fail-over 10
refused "a negative threshold is a usage error" 2 'percentage' compare base.hbp fast.hbp --fail-over=-5%
refused "a hexadecimal threshold is a usage error" 2 'percentage' compare base.hbp fast.hbp --fail-over 0x10%
refused "a threshold without a number is a usage error" 2 'percentage' compare base.hbp fast.hbp --fail-over %
refused "an empty fact is a usage error" 2 'names no fact' compare base.hbp fast.hbp --order-by ''
refused "too many labels are a usage error" 2 '3 labels for 2' \
    compare base.hbp fast.hbp --label a --label b --label c
is "$(compare - fast.hbp --metric p50 <base.hbp | grep -c ' faster$')" 3 "- reads standard input"

# ---- merge ----

ok "captures of one process are merged" "$HBPROF" merge part1.hbp part2.hbp -o all.hbp
text=$("$HBPROF" report all.hbp)
like "$text" 'merged from 2 captures \(part1.hbp,' "the report says so"
like "$text" '50\.0s recorded' "the times add up"
like "$text" 'Marshal000 .* 40,000 ' "the calls add up"
ok "a merged capture can be compared" "$HBPROF" compare all.hbp base.hbp -o out.txt
ok "- writes the merged capture to standard output" sh -c \
    "'$HBPROF' merge part1.hbp part2.hbp -o - | cmp - all.hbp"
refused "another machine is not merged" 1 'fast.hbp: its cpu_model is Other CPU' \
    merge base.hbp fast.hbp -o no.hbp
refused "a capture is not merged with itself" 1 'would count twice' merge base.hbp base.hbp -o no.hbp
ok "and nothing is written" test ! -e no.hbp
refused "merge of one capture is a usage error" 2 'two captures' merge base.hbp -o no.hbp
refused "merge needs -o" 2 'where to' merge part1.hbp part2.hbp
refused "merge into a missing folder fails" 1 'cannot write' merge part1.hbp part2.hbp -o no/all.hbp

done_testing
