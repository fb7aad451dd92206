// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

func TestRestorePutsBackWhatStoodThere(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	takeOverAll(t, client, ourOptions())
	steps, err := Restore(t.Context(), client, resourceOnly(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{{beta, "restored to Service kube-system/metrics-server"}, {stable, "deleted: it did not exist before the takeover"}}
	fleettest.Same(t, "steps", want, steps)
	fleettest.Same(t, beta, metricsServers(), get(t, client, beta))
	if api := get(t, client, stable); api != nil {
		t.Errorf("%s is still there: %v", stable, api)
	}
}

func TestRestoreTwiceWritesOnce(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	takeOverAll(t, client, ourOptions())
	if _, err := Restore(t.Context(), client, resourceOnly(), nil); err != nil {
		t.Fatal(err)
	}
	client.ClearActions()
	steps, err := Restore(t.Context(), client, resourceOnly(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{
		{beta, "unchanged: it points at Service kube-system/metrics-server and was not taken over"},
		{stable, "not there, so nothing was restored"},
	}
	fleettest.Same(t, "steps", want, steps)
	if got := writes(client); len(got) > 0 {
		t.Errorf("the second restore wrote: %v", got)
	}
}

func TestRestoreBringsBackAnAPIOfTheHubItself(t *testing.T) {
	local := metricsServers()
	local.Spec.Service, local.Spec.CABundle = nil, nil
	client := fake.NewClientset(local)
	takeOverAll(t, client, ourOptions())
	if _, err := Restore(t.Context(), client, resourceOnly(), nil); err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, beta, local, get(t, client, beta))
}

func TestRestoreRefusesWhatSomebodyRewrote(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	takeOverAll(t, client, ourOptions())
	pointAt(t, client, "monitoring", "prometheus-adapter")
	before := get(t, client, beta)
	steps, err := Restore(t.Context(), client, resourceOnly(), nil)

	want := "restoring APIService v1beta1.metrics.k8s.io: since the takeover by Service fleetscale-system/metrics-adapter" +
		" it has been pointed at Service monitoring/prometheus-adapter; if that is intended, remove the annotation:" +
		" kubectl annotate apiservice v1beta1.metrics.k8s.io fleetscale.io/former-apiservice-"
	if err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant    %s", err, want)
	}
	fleettest.Same(t, "it was written", before, get(t, client, beta))
	fleettest.Same(t, "steps", []Step{{stable, "deleted: it did not exist before the takeover"}}, steps)
}

func TestRestoreTriesAgainWhenItCameSecond(t *testing.T) {
	for _, verb := range []string{"update", "delete"} {
		t.Run(verb, func(t *testing.T) {
			client := fake.NewClientset(metricsServers())
			takeOverAll(t, client, ourOptions())
			failOnce(client, verb, conflict())
			if _, err := Restore(t.Context(), client, resourceOnly(), nil); err != nil {
				t.Fatal(err)
			}
			fleettest.Same(t, beta, metricsServers(), get(t, client, beta))
			if api := get(t, client, stable); api != nil {
				t.Errorf("%s is still there: %v", stable, api)
			}
		})
	}
}

// The fake does not know preconditions; a real hub refuses with a conflict.
func TestRestoreDeletesOnlyWhatItLookedAt(t *testing.T) {
	api := ours("v1", nothingBefore())
	api.UID, api.ResourceVersion = "a11", "7"
	client := fake.NewClientset(api)
	if _, err := Restore(t.Context(), client, resourceOnly(), nil); err != nil {
		t.Fatal(err)
	}
	actions := client.Actions()
	deletion, ok := actions[len(actions)-1].(clienttesting.DeleteActionImpl)
	if !ok {
		t.Fatalf("last action = %v, want a deletion", actions[len(actions)-1])
	}
	want := &metav1.Preconditions{UID: new(types.UID("a11")), ResourceVersion: new("7")}
	fleettest.Same(t, "preconditions", want, deletion.DeleteOptions.Preconditions)
}

func TestRestoreOfWhatWasOnlyApplied(t *testing.T) {
	applied := ours("v1beta1", "")
	applied.Annotations = nil
	client := fake.NewClientset(applied)
	steps, err := Restore(t.Context(), client, resourceOnly(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Step{beta, "unchanged: it points at Service fleetscale-system/metrics-adapter and was not taken over"}
	if steps[0] != want {
		t.Errorf("step = %v, want %v", steps[0], want)
	}
	fleettest.Same(t, "it was written", applied, get(t, client, beta))
}

func TestRestoreOfOneAPILeavesTheOthers(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	o := ourOptions()
	o.APIs = apiservice.Groups()
	takeOverAll(t, client, o)
	client.ClearActions()
	steps, err := Restore(t.Context(), client, []string{"external.metrics.k8s.io"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{{"v1beta1.external.metrics.k8s.io", "deleted: it did not exist before the takeover"}}
	fleettest.Same(t, "steps", want, steps)
	fleettest.Same(t, "writes", []string{"delete"}, writes(client))
}

func TestRestoreOfNothingIsRefused(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	takeOverAll(t, client, ourOptions())
	client.ClearActions()
	_, err := Restore(t.Context(), client, nil, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "restoring APIServices: no API group: ") {
		t.Errorf("error = %v, want one that says that no group is named", err)
	}
	if got := len(client.Actions()); got != 0 {
		t.Errorf("asked the hub %d times, want never", got)
	}
}

// The fake stores what a dry run writes; a real hub does not.
func TestDryRunsAsk(t *testing.T) {
	client := fake.NewClientset(metricsServers())
	o := ourOptions()
	o.DryRun = []string{metav1.DryRunAll}
	takeOverAll(t, client, o)
	if _, err := Restore(t.Context(), client, resourceOnly(), o.DryRun); err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, action := range client.Actions() {
		var asked []string
		switch a := action.(type) {
		case clienttesting.UpdateActionImpl:
			asked = a.UpdateOptions.DryRun
		case clienttesting.CreateActionImpl:
			asked = a.CreateOptions.DryRun
		case clienttesting.DeleteActionImpl:
			asked = a.DeleteOptions.DryRun
		default:
			continue
		}
		fleettest.Same(t, "dry run of "+action.GetVerb(), o.DryRun, asked)
		verbs = append(verbs, action.GetVerb())
	}
	fleettest.Same(t, "writes", []string{"update", "create", "create", "create", "update", "delete"}, verbs)
}
