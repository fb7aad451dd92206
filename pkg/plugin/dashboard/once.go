// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
)

const (
	// mostStored is how many autoscalers have their page in a file: those that are worst off.
	mostStored = 200
	// storedAtOnce is how many of them are asked for Events at one time.
	storedAtOnce = 8
	// firstLists is how long is waited until all was listed.
	firstLists = time.Minute
)

// stored is what a file has.
type stored struct {
	Fleet   snapshot          `json:"fleet"`
	Details map[string]detail `json:"details"`
}

// writeOnce writes all that can be read into one file that needs nothing else.
func writeOnce(ctx context.Context, s *seen, hub dynamic.Interface, file string) error {
	all, err := s.whole(ctx)
	if err != nil {
		return err
	}
	data := stored{Fleet: all, Details: map[string]detail{}}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(storedAtOnce)
	for _, r := range all.Autoscalers[:min(len(all.Autoscalers), mostStored)] { // the worst come first
		group.Go(func() error {
			if d, found := about(ctx, s, hub, r.ID); found {
				mu.Lock()
				data.Details[r.ID] = d
				mu.Unlock()
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	text, err := selfContained(pages(), data)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600) // it is for those to whom its writer gives it
}

// whole waits until all kinds were listed, or cannot be.
func (s *seen) whole(ctx context.Context) (snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, firstLists)
	defer cancel()
	for {
		all, changed := s.look()
		if len(all.Loading) == 0 {
			return all, nil
		}
		select {
		case <-ctx.Done():
			return all, fmt.Errorf("waiting for %s: %w", strings.Join(all.Loading, ", "), ctx.Err())
		case <-changed:
		}
	}
}

var (
	styleLink  = regexp.MustCompile(`<link rel="stylesheet" href="style\.css">`)
	scriptLink = regexp.MustCompile(`<script type="module" src="main\.js"></script>`)
	iconLink   = regexp.MustCompile(`<link rel="icon"[^>]*>`)
	importLine = regexp.MustCompile(`(?m)^import \{[^}]*\} from "\./([a-z]+\.js)";\n`)
	exported   = regexp.MustCompile(`(?m)^export `)
)

// selfContained is the page as one file: what it loads stands in it, and so does what it shows.
func selfContained(from fs.FS, data stored) ([]byte, error) {
	html, err := fs.ReadFile(from, "index.html")
	if err != nil {
		return nil, err
	}
	style, err := fs.ReadFile(from, "style.css")
	if err != nil {
		return nil, err
	}
	script, err := bundle(from, "main.js")
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(data) // which writes < as an escape, so that no text ends the element
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; `+
		`base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">`, digest(script), digest(style))
	for _, change := range []struct {
		of *regexp.Regexp
		to []byte
	}{
		{iconLink, []byte(head)},
		{styleLink, slices.Concat([]byte("<style>"), style, []byte("</style>"))},
		{scriptLink, slices.Concat([]byte(`<script type="application/json" id="data">`), value,
			[]byte("</script>\n<script type=\"module\">"), script, []byte("</script>"))},
	} {
		if !change.of.Match(html) {
			return nil, fmt.Errorf("index.html has no %s", change.of)
		}
		html = change.of.ReplaceAllLiteral(html, change.to)
	}
	return html, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// bundle makes one module of ours of many: those that one imports stand before it, and all share one scope.
func bundle(from fs.FS, entry string) ([]byte, error) {
	var out bytes.Buffer
	done := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		if done[name] {
			return nil
		}
		done[name] = true
		text, err := fs.ReadFile(from, path.Clean(name))
		if err != nil {
			return err
		}
		for _, imported := range importLine.FindAllSubmatch(text, -1) {
			if err := add(string(imported[1])); err != nil {
				return err
			}
		}
		out.Write(exported.ReplaceAll(importLine.ReplaceAll(text, nil), nil))
		return nil
	}
	err := add(entry)
	return out.Bytes(), err
}
