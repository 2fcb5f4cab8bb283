#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_flamegraph.sh - `hbprof flamegraph` over folded stacks: pictures byte for byte, what it refuses,
# and what a browser makes of them.
. "$(dirname "$0")/../tap.sh"

[ -x "$HBPROF" ] || {
    fail "hbprof was built" "$HBPROF is not there"
    done_testing
}

data=$HB_SRC/tests/data
stacks=$data/flame.folded
base=$data/flame-base.folded
cp "$stacks" "$base" "$HB_TMP" && cd "$HB_TMP" || exit 1

flame() {
    "$HBPROF" flamegraph "$@"
}

# refused SENTENCE REGEX ARGUMENT...: exit status 1, nothing on stdout, one line on stderr.
refused() {
    local sentence=$1 regex=$2 out status
    shift 2
    out=$(flame "$@" 2>err)
    status=$?
    if [ "$status" = 1 ] && [ -z "$out" ] && [ "$(wc -l <err)" = 1 ] && grep -Eq -- "$regex" err; then
        pass "$sentence"
    else
        fail "$sentence" "status $status, stderr: $(cat err), stdout: ${out:0:200}"
    fi
}

# ---- pictures ----

# golden NAME SENTENCE ARGUMENT...
golden() {
    local name=$1 sentence=$2
    shift 2
    flame "$@" --static -o "$name"
    ok "$sentence" cmp "$name" "$data/$name"
}
golden flame.svg "a picture is the one in tests/data" flame.folded
golden flame-diff.svg "a difference is the one in tests/data" flame.folded --diff flame-base.folded
golden flame-icicle.svg "an icicle by callee is the one in tests/data" flame.folded --inverted \
    --reverse --colors io --unit ns --width 800 --frame-height 20 --min-width 3% --max-depth 4 \
    --title 'By <callee>'
is "$(flame --static - <flame.folded | sed 's/standard input/flame.folded/g' | cksum)" \
    "$(cksum <"$data/flame.svg")" "standard input is drawn to standard output"
is "$(shuf --random-source="$HBPROF" flame.folded | flame --static --title x -)" \
    "$(flame --static --title x -o - flame.folded)" "the order of the lines does not matter"
is "$(sed 's/$/\r/' flame.folded | flame --static --title x -)" \
    "$(flame --static --title x -o - flame.folded)" "CRLF is no difference"

flame flame.folded
ok "the default output has the input's name with .svg" test -s flame.svg
cp flame.folded plain && flame plain
ok "a name without an ending of stacks keeps it" test -s plain.svg
flame flame.folded --diff flame-base.folded -o diff.svg
flame flame.folded --color-by flame-base.folded --color-unit misses -o heat.svg
flame flame.folded --inverted -o icicle.svg
python3 -c 'print(";".join("level%d" % i for i in range(2000)), 3)' >deep.folded
python3 -c 'print("n" * 10240 + ";b 3")' >long.folded
flame deep.folded
flame long.folded
if command -v xmllint >/dev/null; then
    for svg in flame diff heat icicle deep long plain; do
        ok "$svg.svg is well-formed" xmllint --noout "$svg.svg"
    done
else
    skip "pictures are well-formed" "xmllint is not installed: apt-get install libxml2-utils"
fi
like "$(head -n 2 deep.svg)" 'height="34117"' "a stack of 2,000 frames makes a high picture"
like "$(cat long.svg)" '^n*… \(10240 bytes\)|<title>n{4096}… \(10240 bytes\)$' \
    "a name of 10 kB is cut in its tooltip and says so"
is "$(grep -cE 'href|src=|@import|url\(|//[a-z]+\.' flame.svg)" \
    "$(grep -cE '//www.w3.org/(2000/svg|1999/xhtml)' flame.svg)" "nothing is loaded from elsewhere"

# ---- text ----

is "$(printf 'b;c 1\na 2\nb;c 3\n' | flame - --folded)" $'a 2\nb;c 4' "--folded merges and sorts"
is "$(flame flame.folded --folded | flame - --folded)" "$(flame flame.folded --folded)" \
    "what --folded prints is read again"
printf 'a 2\nc 7\n' >other.folded
is "$(printf 'a 1\nb 5\n' | flame - --folded --diff other.folded)" $'a 2 1\nb 0 5\nc 7 0' \
    "--folded --diff prints both counts, the base first"
is "$(printf 'a;b;c 1\nx;b;c 2\n' | flame - --folded --reverse)" $'c;b;a 1\nc;b;x 2' \
    "--reverse begins with the callee"

# ---- what is left out ----

printf 'a;b 3\n\nno count\na;b 0\na;b -1\na;b 99999999999999999999\n;a 1\nthread 7;f 8 2\na\0b 1\nx;y 4' >bad
is "$(flame bad --folded 2>err)" $'a;b 3\nthread 7;f 8 2\nx;y 4' "bad lines are left out, the others kept"
is "$(cat err)" "hbprof: warning: bad: 6 lines left out: no count (1), a count of 0 (1), a negative count (1), a count \
too large (1), a frame without a name (1), binary data (1)" "and counted by reason"
{
    echo 'a 1'
    head -c 100000000 /dev/zero | tr '\0' x
    echo ' 5'
    echo 'b 2'
} >longline
is "$(flame longline --folded 2>err)" $'a 1\nb 2' "a line of 100 MB is skipped"
like "$(cat err)" '1 line left out: too long \(1\)' "and counted"
rm -f longline

: >empty
refused "an empty file is refused" 'no stacks in empty' empty
ok "and no picture is left" test ! -e empty.svg
refused "a missing file is named" 'cannot read none: No such file' none
refused "a folder is refused" 'cannot read \.: Is a directory' . -o x.svg
refused "a missing base is named" 'cannot read none: No such file' flame.folded --diff none
echo 'this is no stack' >prose
refused "a base that is no stacks is refused" 'no stacks in prose' flame.folded --diff prose -o x.svg
: >empty
ok "an empty base is one in which there was nothing" flame flame.folded --diff empty -o x.svg
refused "an output in a missing folder is named" 'cannot write the picture to no/x.svg: No such file' flame.folded -o no/x.svg
refused "a capture without stacks says so" 'holds no stacks to draw' "$data/sample.hbp" -o x.svg
gzip -c flame.folded >packed.gz
refused "compressed stacks are refused with the remedy" 'zcat' packed.gz
refused "so are they on standard input" 'standard input is compressed' - <packed.gz
head -c 20 "$data/sample.hbp" >cut.hbp
refused "a cut capture is refused" 'cut' cut.hbp

# ---- usage ----

for args in '' 'a b' '--width 0 a' '--width 199 a' '--width x a' '--min-width 2 a' '--min-width 101% a' \
    '--min-width -1 a' '--min-width nan a' '--min-width px a' '--max-depth 0 a' '--frame-height 7 a' \
    '--colors pink a' '--diff a --color-by b c' '--absolute a' '- --diff -' '--nonsense a'; do
    # shellcheck disable=SC2086 # words
    ok "usage error: $args" exits 2 flame $args
done
for share in 0.5% 0.005 1px 0 100%; do
    ok "--min-width $share is understood" flame flame.folded --min-width $share -o x.svg
done
is "$(flame flame.folded --min-width 11.8px -o - | grep -c '<title>')" \
    "$(flame flame.folded --min-width 1% -o - | grep -c '<title>')" "pixels are a share of the width"

if [ -c /dev/full ]; then
    flame flame.folded -o - >/dev/full 2>err
    is $? 1 "a full disk behind stdout is exit status 1"
    like "$(cat err)" 'standard output.*No space left' "and is said"
else
    skip "a full disk behind stdout is exit status 1" "no /dev/full"
fi

# ---- a browser ----

browser=$(command -v chromium || command -v chromium-browser)
if [ -z "$browser" ]; then
    skip "a browser zooms and searches" "chromium is not installed"
    done_testing
fi
cp "$HB_SRC/tests/cli/flame_page.html" .
timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage \
    --user-data-dir="$HB_TMP/browser" --allow-file-access-from-files --enable-logging=stderr \
    --dump-dom "file://$HB_TMP/flame_page.html" >page 2>err
sed -n '/<pre id="log">/,/<\/pre>/p' page | sed 's/<[^>]*>//g' | grep -E '^(not )?ok ' >log
while read -r line; do
    case $line in
    'ok '*) pass "in a browser: ${line#ok }" ;;
    *) fail "in a browser: ${line#not ok }" ;;
    esac
done <log
is "$(tail -n 1 log)" "ok done" "the browser came to the end of its page"
is "$(grep -c CONSOLE err)" 0 "and had nothing to say on its console"

done_testing
