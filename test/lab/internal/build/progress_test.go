// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressLines(t *testing.T) {
	tests := map[string]struct {
		compiled int
		elapsed  time.Duration
		want     string
	}{
		"nothing compiled yet": {0, 300 * time.Millisecond, "building etcd, kwok: a first build takes about eight minutes on two cores, 0s"},
		"on the way":           {812, 190 * time.Second, "building etcd, kwok: 812 of at most 1890 packages, 3m10s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProgress(&bytes.Buffer{}, []string{"etcd", "kwok"}, "eight minutes", 1890)
			p.compiled = tc.compiled
			if got := p.line(tc.elapsed); got != tc.want {
				t.Errorf("line = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	for width, want := range map[int]string{0: "building", 9: "building", 8: "buildin", 4: "bui"} {
		if got := (&progress{width: width}).fit("building"); got != want {
			t.Errorf("fit to %d columns = %q, want %q", width, got, want)
		}
	}
}

func TestTheCompilersOutputIsCountedAndItsFaultsKept(t *testing.T) {
	output := `go: downloading k8s.io/api v0.37.1
internal/goarch
k8s.io/api/core/v1
# example.com/broken
broken/main.go:3:7: undefined: x
sigs.k8s.io/kwok/cmd/kwok
`
	var log bytes.Buffer
	p := newProgress(&log, []string{"kwok"}, "a minute", 3)
	said := follow(strings.NewReader(output), p)
	if p.compiled != 3 {
		t.Errorf("%d packages counted, want 3", p.compiled)
	}
	if want := "# example.com/broken\nbroken/main.go:3:7: undefined: x"; said != want {
		t.Errorf("faults = %q, want %q", said, want)
	}
	p.finish(false)
	if strings.Contains(log.String(), "built") {
		t.Errorf("a failed build is said to be done: %s", log.String())
	}
	p.finish(true)
	if !strings.Contains(log.String(), "built kwok in 0s\n") {
		t.Errorf("a build's end is not said: %s", log.String())
	}
}
