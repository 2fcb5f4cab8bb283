#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# gen.sh GO BIN [quick] - generates the code of msgp, easyjson and the three kinds of Protocol Buffers
# in this folder, which is a copy below the output folder: see ../codecs.sh. The generators are built
# into BIN, in the versions of go.mod, or in those of their own that are named here. quick: only what
# the quick subset needs.
set -eu -o pipefail

cd "$(dirname "$0")"
go=$1 bin=$2
mkdir -p "$bin"
export PATH=$bin:${go%/*}:$PATH GOBIN=$bin

generator() { # the package
    "$go" build -o "$bin/" "$1"
}

# Go names the package after go_package; "M" gives it from outside, so that one file serves all.
protoc_to() { # folder, generator options...
    local dir=$1

    shift
    protoc -I ../lib "$@" ../lib/payload.proto
    [ -s "$dir/payload.pb.go" ]
}

package=hbprof/workload/gocodecs
generator google.golang.org/protobuf/cmd/protoc-gen-go
go_opts=(--go_out=. --go_opt=module=$package --go_opt=Mpayload.proto=$package/pbgo)
if [ "${3:-}" = quick ]; then
    protoc_to pbgo "${go_opts[@]}"
    exit
fi
generator github.com/planetscale/vtprotobuf/cmd/protoc-gen-go-vtproto
generator github.com/gogo/protobuf/protoc-gen-gogofaster
generator github.com/tinylib/msgp
generator github.com/mailru/easyjson/easyjson
protoc_to pbgo "${go_opts[@]}" --go-vtproto_out=. --go-vtproto_opt=module=$package \
    --go-vtproto_opt=Mpayload.proto=$package/pbgo \
    --go-vtproto_opt=features=marshal+unmarshal+size
mkdir -p pbgogo
protoc_to pbgogo --gogofaster_out=pbgogo
(cd wire && easyjson types.go && msgp -file types.go -tests=false -io=false)
