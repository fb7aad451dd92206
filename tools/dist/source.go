// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// source is what a release is built from.
type source struct {
	commit string    // 40 hexadecimal digits
	time   time.Time // of the commit, UTC; all times in a release are this one
}

func readSource(ctx context.Context, root string) (source, error) {
	line, err := output(ctx, root, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return source{}, fmt.Errorf("%s must be a git checkout: %w", root, err)
	}
	commit, seconds, _ := strings.Cut(line, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("reading the commit of %s: %w", root, err)
	}
	return source{commit: commit, time: time.Unix(unix, 0).UTC()}, nil
}

// output is what a program prints, without the last end of line. A nil environment is our own.
func output(ctx context.Context, dir string, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}

// isRelease reports whether a version is that of a tag, and not of a commit between tags or of changed files.
func isRelease(version string) bool {
	return !module.IsPseudoVersion(version) && !isChanged(version) && version != unknownVersion
}

// isChanged reports whether files were changed after the commit.
func isChanged(version string) bool { return strings.HasSuffix(version, "+dirty") }

// unknownVersion is Go's word for a version that it does not know.
const unknownVersion = "(devel)"

// tag is a version in the characters that a tag of an image may have.
func tag(version string) string { return strings.ReplaceAll(version, "+", "-") }
