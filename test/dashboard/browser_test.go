// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"k8s.io/client-go/rest"

	fleetscale "github.com/fleetscale/fleetscale/pkg/plugin/dashboard"
)

// patience is for what a browser does on a machine that has other things to do.
const patience = 2 * time.Minute

// names of programs that are Chromium.
var names = []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"}

// installed is the path of a browser. Without one the test is skipped, unless it is required.
func installed(t *testing.T) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	why := "Chromium is not installed, or not on PATH (" + strings.Join(names, ", ") + "); on Debian: apt-get install chromium"
	if os.Getenv("FLEETSCALE_BROWSER") == "required" {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

// tab is a page of a browser.
type tab struct {
	context.Context
	t *testing.T

	mu     sync.Mutex
	faults []string
}

// browse opens a tab in a browser of its own. What the page breaks, of its own policy too, is a fault of the test.
func browse(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(installed(t)), chromedp.WindowSize(1280, 900),
		chromedp.WSURLReadTimeout(patience), chromedp.Flag("disable-dev-shm-usage", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	ctx, close := chromedp.NewContext(allocated, chromedp.WithErrorf(t.Logf))
	t.Cleanup(close)
	b := &tab{Context: ctx, t: t}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.fault(e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				b.fault(e.Entry.Text)
			}
		}
	})
	if err := chromedp.Run(ctx); err != nil { // begins the browser, which lives as long as the context of this call
		t.Fatal(err)
	}
	b.do(emulation.SetTimezoneOverride("UTC"), log.Enable())
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Errorf("the page says: %s", fault)
		}
	})
	return b
}

func (b *tab) fault(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, text)
}

// allow takes faults of a kind for right.
func (b *tab) allow(kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = slices.DeleteFunc(b.faults, func(text string) bool { return strings.Contains(text, kind) })
}

func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// value is what an expression has in the page.
func value[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &v))
	return v
}

// await waits until an expression is true in the page.
func (b *tab) await(what, expression string) {
	b.t.Helper()
	end := time.After(patience)
	for !value[bool](b, "Boolean("+expression+")") {
		select {
		case <-end:
			b.t.Fatalf("waiting until %s; the page has:\n%s", what, value[string](b, "document.body.innerText"))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// press presses keys, one after the other.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.do(chromedp.KeyEvent(key))
	}
}

//go:embed axe-core/axe.min.js
var axe string

// shutsOut has the page searched for what shuts people out.
func (b *tab) shutsOut(what string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		var found []struct {
			ID    string `json:"id"`
			Help  string `json:"help"`
			Nodes []struct {
				HTML           string `json:"html"`
				FailureSummary string `json:"failureSummary"`
			} `json:"nodes"`
		}
		b.do(chromedp.Evaluate(axe+";0", nil), chromedp.Evaluate(`axe.run().then((result) => result.violations)`, &found,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		for _, v := range found {
			text, _ := json.Marshal(v.Nodes[0])
			b.t.Errorf("%s, %s: %s: %s, in %d places: %.800s", what, scheme, v.ID, v.Help, len(v.Nodes), text)
		}
	}
}

// unbound lets a tool of the test do what the policy of the page forbids.
func (b *tab) unbound() { b.do(page.SetBypassCSP(true)) }

var address = regexp.MustCompile(`http://\S+`)

// serve runs the command for a hub, and returns its address; record is a file, or empty.
func serve(t *testing.T, hub *rest.Config, record string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := fleetscale.Run(ctx, fleetscale.Options{Hub: hub, Namespace: "shop", Record: record, Out: in})
		_ = in.CloseWithError(fmt.Errorf("it has ended: %w", err))
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the command ended with %v", err)
		}
	})
	said := make([]byte, 4096)
	n, err := out.Read(said)
	if err != nil {
		t.Fatal(err)
	}
	return address.FindString(string(said[:n]))
}
