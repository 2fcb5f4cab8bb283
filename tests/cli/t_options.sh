#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_options.sh - what --help of each command says and what its manual page says are the same options.
. "$(dirname "$0")/../tap.sh"

[ -x "$HBPROF" ] || {
    fail "hbprof was built" "$HBPROF is not there"
    done_testing
}

page_of() { # command: the record command is the tool's own page
    case $1 in
    record) echo "$HB_SRC/docs/man/hbprof.1.scd" ;;
    *) echo "$HB_SRC/docs/man/hbprof-$1.1.scd" ;;
    esac
}

help_options() { # command: "--long" and "-x", one a line
    "$HBPROF" help "$1" | sed -nE 's/^ +(-.*)/\1/p' | sed -E 's/   .*//' |
        grep -oE '(^|[ ,])--?[A-Za-z0-9?][A-Za-z0-9-]*' | tr -d ' ,' | sort -u
}

page_options() { # page: of the lines that begin with an option in bold
    grep -E '^\*-' "$1" | grep -oE '\*--?[A-Za-z0-9?][A-Za-z0-9-]*\*' | tr -d '*' | sort -u
}

commands=$("$HBPROF" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
is "$(grep -cE '^(record|report)$' <<<"$commands")" 2 "hbprof help lists record and report"

for cmd in $commands; do
    [ "$cmd" != help ] || continue
    page=$(page_of "$cmd")
    ok "$cmd has a manual page" test -f "$page"
    ok "$cmd --help prints options" grep -q -- --help <(help_options "$cmd")
    # The version is asked of the tool, not of a command.
    is "$(page_options "$page" | grep -vxE -- '--version|-V')" "$(help_options "$cmd")" \
        "the manual page of $cmd has every option of its --help, and no other"
    for section in EXAMPLES 'EXIT STATUS'; do
        ok "the manual page of $cmd has the section $section" grep -qx "# $section" "$page"
    done
    if command -v scdoc >/dev/null; then
        ok "scdoc accepts the manual page of $cmd" sh -c "scdoc <'$page' >/dev/null"
    else
        skip "scdoc accepts the manual page of $cmd" "scdoc is not installed"
    fi
done

done_testing
