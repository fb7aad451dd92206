// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	tailLines = 15
	tailBytes = 8 << 10
)

// Tail returns the last lines of a log, indented, for an error message.
func Tail(path string) string {
	end, err := readEnd(path)
	if err != nil {
		return fmt.Sprintf("  (%v)", err)
	}
	lines := strings.Split(strings.TrimRight(end, "\n"), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "  " + strings.Join(lines, "\n  ")
}

func readEnd(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	offset := max(0, info.Size()-tailBytes)
	end, err := io.ReadAll(io.NewSectionReader(file, offset, tailBytes))
	return string(end), err
}
