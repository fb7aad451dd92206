// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

var (
	fenced = regexp.MustCompile("(?s)```sh\n(.*?)```")
	callOf = regexp.MustCompile(`(?m)(?:^|[;&|]\s*)\s*kubectl fleetscale ([^\n;&|#>]*)`)
	aWord  = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s"'])+`)
)

// Commands that pages have people run are there, and have these flags.
func TestDocumentedCommandsAreAccepted(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
			for _, call := range callOf.FindAllStringSubmatch(strings.ReplaceAll(block[1], "\\\n", " "), -1) {
				found++
				if err := accepts(call[1]); err != nil {
					t.Errorf("%s: kubectl fleetscale %s: %v", filepath.Base(page), call[1], err)
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("found %d commands in the pages; is the pattern still right?", found)
	}
}

// accepts reads a command, and does not run it.
func accepts(call string) error {
	words := aWord.FindAllString(call, -1)
	for i, word := range words {
		words[i] = strings.NewReplacer(`"`, "", "'", "").Replace(word)
	}
	cmd, args, err := NewCommand(genericiooptions.NewTestIOStreamsDiscard()).Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
