#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds a program twice, as deploy/Dockerfile does, in two folders of different names, and compares the bytes: whoever has
# the source can find out whether a binary is of it.
set -eu
cd "$(dirname "$0")/.."
program=${1:-metrics-adapter}
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
for folder in "$top/one" "$top/two/of another length"; do
	mkdir -p "$folder"
	cp -R go.mod go.sum cmd pkg "$folder"
	(cd "$folder" && CGO_ENABLED=0 "${GO:-go}" build -trimpath -buildvcs=false \
		-ldflags "-X github.com/fleetscale/fleetscale/pkg/version.release=v0.0.0-reproducible" -o "$folder/program" "./cmd/$program")
done
if grep -q "$top" "$top/one/program"; then
	echo "$program holds the path of the folder that it was built in" >&2
	exit 1
fi
cmp "$top/one/program" "$top/two/of another length/program"
echo "$program: the same bytes from two folders, sha256 $(sha256sum <"$top/one/program" | cut -d ' ' -f 1)"
