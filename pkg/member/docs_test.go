// SPDX-License-Identifier: Apache-2.0

package member

import (
	"os"
	"regexp"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestDocs holds docs/members.md to what people can meet: reasons, metrics,
// flags in messages, and what a Secret may say.
func TestDocs(t *testing.T) {
	docs := readFile(t, "../../docs/members.md")
	sources := ""
	for _, file := range []string{"reasons.go", "secret.go", "topology.go", "kubeconfig.go", "hub.go", "connection.go", "entry.go"} {
		sources += readFile(t, file)
	}
	wanted := find(sources+readFile(t, "../fleet/silence.go"), `fleet\.Reason += "(\w+)"`, `Reason\w+ +Reason = "(\w+)"`, `(--[a-z]+-[a-z-]+[a-z])`, `"(fleetscale\.io/[a-z-]+)"`)
	if len(wanted) < 25 {
		t.Fatalf("only %d words found in the sources: the search is wrong", len(wanted))
	}
	descriptions := make(chan *prometheus.Desc, 100)
	registry := prometheus.NewRegistry()
	metrics := NewMetrics(registry)
	metrics.requests.Describe(descriptions)
	metrics.seconds.Describe(descriptions)
	metrics.clocks.Describe(descriptions)
	metrics.states.Describe(descriptions)
	close(descriptions)
	for d := range descriptions {
		wanted = append(wanted, find(d.String(), `fqName: "(\w+)"`)...)
	}
	for _, word := range wanted {
		// A sample's age is no member's state.
		if word != "Stale" && !regexp.MustCompile(`(^|[^\w-])`+word+`($|[^\w-])`).MatchString(docs) {
			t.Errorf("docs/members.md does not mention %s", word)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// find returns the first group of each match.
func find(text string, patterns ...string) []string {
	var found []string
	for _, pattern := range patterns {
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, match[1])
		}
	}
	return found
}
