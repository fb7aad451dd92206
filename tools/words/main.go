// SPDX-License-Identifier: Apache-2.0

// Words finds words that this repository does without, in the files of the folders that it is given: in code, comments, messages
// and documentation. words.txt says which, and what to write instead.
package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed words.txt
var list string

func main() {
	if err := run(os.Stdout, list, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

// run writes where the words of the list are. The error says how many are.
func run(out io.Writer, list string, folders []string) error {
	words, err := parse(list)
	if err != nil {
		return err
	}
	found := 0
	for _, folder := range folders {
		err = errors.Join(err, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && skipped(path, folder):
				return fs.SkipDir
			case entry.IsDir() || !isText(path):
				return nil
			}
			n, err := words.search(out, path)
			found += n
			return err
		}))
	}
	if found > 0 {
		err = errors.Join(err, fmt.Errorf("%d to be replaced", found))
	}
	return err
}

// skipped are folders whose text is not ours, or is made from ours, and this one.
func skipped(path, root string) bool {
	name := filepath.Base(path)
	return path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "words"}, name))
}

// isText is true for files that people write.
func isText(path string) bool {
	return !strings.HasPrefix(filepath.Base(path), "zz_generated") &&
		(slices.Contains([]string{".go", ".md", ".yaml", ".txt"}, filepath.Ext(path)) || filepath.Base(path) == "Makefile")
}

// words are patterns, and what to write instead.
type words []struct {
	pattern *regexp.Regexp
	instead string
}

// parse reads lines such as `whilst => while`. Empty ones and those that begin with # are comments.
func parse(list string) (all words, err error) {
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, instead, found := strings.Cut(line, " => ")
		if !found {
			return nil, fmt.Errorf("%q: want a pattern, =>, and what to write instead", line)
		}
		pattern, err := regexp.Compile(`(?i)\b(?:` + word + `)\b`)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		all = append(all, struct {
			pattern *regexp.Regexp
			instead string
		}{pattern, instead})
	}
	return all, nil
}

func (w words) search(out io.Writer, path string) (found int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		for _, word := range w {
			if text := word.pattern.FindString(lines.Text()); text != "" {
				found++
				fmt.Fprintf(out, "%s:%d: %q: write %s\n", path, n, text, word.instead)
			}
		}
	}
	return found, lines.Err()
}
