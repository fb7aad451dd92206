// SPDX-License-Identifier: Apache-2.0

package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// federated is a FederatedHPA in a state, with conditions that are as they should not be.
func federated(name string, state v1alpha1.FederatedHPAState,
	wrong ...autoscalingv2.HorizontalPodAutoscalerCondition) v1alpha1.FederatedHPA {
	f := v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	f.Status.Summary = &v1alpha1.FederatedHPASummary{State: state}
	for _, c := range wrong {
		c.Status = corev1.ConditionFalse
		f.Status.Conditions = append(f.Status.Conditions, c)
	}
	return f
}

// hubOf has autoscalers of all kinds; few of them do what they should.
func hubOf() (v1alpha1.FederatedHPAList, v1alpha1.CronFederatedHPAList, v1alpha1.MultidimPodAutoscalerList) {
	conflict := federated("rival", v1alpha1.StateActive)
	conflict.Status.Clusters = []v1alpha1.ClusterStatus{
		{Name: "east", State: v1alpha1.ClusterActive},
		{Name: "west", State: v1alpha1.ClusterConflict, Reason: "ScaledByOthers", Message: "HorizontalPodAutoscaler web scales it"},
	}
	fails := func(name, reason, message string) v1alpha1.FederatedHPA {
		return federated(name, v1alpha1.StateFailing,
			autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.AbleToScale, Reason: reason, Message: message})
	}
	rules := v1alpha1.CronFederatedHPAList{Items: make([]v1alpha1.CronFederatedHPA, 2)}
	for i, last := range []string{"morning Succeeded", "evening Failed"} {
		rules.Items[i].Namespace, rules.Items[i].Name = "shop", fmt.Sprint("peak", i)
		rules.Items[i].Status.Summary = &v1alpha1.CronFederatedHPASummary{Last: last}
	}
	sizes := v1alpha1.MultidimPodAutoscalerList{Items: make([]v1alpha1.MultidimPodAutoscaler, 2)}
	sizes.Items[0].Namespace, sizes.Items[0].Name = "pay", "api"
	sizes.Items[0].Status.Summary = &v1alpha1.MultidimPodAutoscalerSummary{State: v1alpha1.MultidimFailing}
	sizes.Items[0].Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.MultidimRecommendationProvided, Status: metav1.ConditionFalse, Reason: "NoMetrics", Message: "nothing is measured"},
		{Type: v1alpha1.MultidimConfigUnsupported, Status: metav1.ConditionTrue, Reason: "AnotherAutoscaler", Message: "VPA api sizes it"},
	}
	sizes.Items[1].Status.Summary = &v1alpha1.MultidimPodAutoscalerSummary{State: v1alpha1.MultidimLearning}
	return v1alpha1.FederatedHPAList{Items: []v1alpha1.FederatedHPA{
		federated("cart", v1alpha1.StateActive), federated("till", v1alpha1.StateLimited),
		federated("queue", v1alpha1.StateHeld, autoscalingv2.HorizontalPodAutoscalerCondition{Type: v1alpha1.FleetVisible,
			Reason: "ClusterUnreachable", Message: "clusters cannot be seen: west: Timeout"}),
		conflict, fails("web", "SpecCut", "dropped without an edit: spec.clusterAffinity"),
		fails("db", "ScaleUndone", "replicas were set back\x1b[2J\nby karmada"),
		federated("try", v1alpha1.StateObserving), federated("off", v1alpha1.StatePaused),
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "new"}},
	}}, rules, sizes
}

// paged is a hub that answers in pages of one object.
func paged(t *testing.T) hub {
	t.Helper()
	autoscalers, rules, sizes := hubOf()
	return hubAt(t, func(w http.ResponseWriter, r *http.Request) {
		from := 0
		if next := r.URL.Query().Get("continue"); next != "" {
			_, _ = fmt.Sscan(next, &from)
		}
		last := false
		var answer client.ObjectList
		switch path.Base(r.URL.Path) {
		case "federatedhpas":
			answer, last = &v1alpha1.FederatedHPAList{Items: autoscalers.Items[from : from+1]}, from+1 == len(autoscalers.Items)
		case "cronfederatedhpas":
			answer, last = &v1alpha1.CronFederatedHPAList{Items: rules.Items[from : from+1]}, from+1 == len(rules.Items)
		case "multidimpodautoscalers":
			answer, last = &v1alpha1.MultidimPodAutoscalerList{Items: sizes.Items[from : from+1]}, from+1 == len(sizes.Items)
		}
		if !last {
			answer.SetContinue(fmt.Sprint(from + 1))
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// hubAt is a hub that answers so.
func hubAt(t *testing.T, answer http.HandlerFunc) hub {
	t.Helper()
	h, err := newHub(configOf(t, answer))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func configOf(t *testing.T, answer http.HandlerFunc) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func TestAutoscalers(t *testing.T) {
	all, refused, err := autoscalers(t.Context(), paged(t))
	if err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	const wantCounts = `9 FederatedHPAs: 2 failing, 1 conflict, 1 held, 1 limited, 1 observing, 1 paused, 1 active, 1 not reconciled yet
2 CronFederatedHPAs: 1 failing, 1 active
2 MultidimPodAutoscalers: 1 failing, 1 learning`
	fleettest.Same(t, "counts", wantCounts, strings.Join(counts(all), "\n"))
	const wantTable = `KIND                    NAMESPACE   NAME    STATE      WHY
MultidimPodAutoscaler   pay         api     Failing    AnotherAutoscaler: VPA api sizes it
FederatedHPA            shop        db      Failing    ScaleUndone: replicas were set back�[2J by karmada
CronFederatedHPA        shop        peak1   Failing    rule evening failed
FederatedHPA            shop        web     Failing    SpecCut: dropped without an edit: spec.clusterAffinity
FederatedHPA            shop        rival   Conflict   west: ScaledByOthers: HorizontalPodAutoscaler web scales it
FederatedHPA            shop        queue   Held       ClusterUnreachable: clusters cannot be seen: west: Timeout
`
	named, more := troubled(all)
	var out bytes.Buffer
	if err := plugin.PrintTable(&out, tableOf(named), false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantTable, out.String()); diff != "" || more != 0 {
		t.Errorf("%d more; named (-want +got):\n%s", more, diff)
	}
	if _, more := troubled(append(all, all...)); more != 2 {
		t.Errorf("of 12 in trouble %d are not named, want 2", more)
	}
}

func TestNoAutoscalers(t *testing.T) {
	if lines := counts(nil); len(lines) != 0 {
		t.Errorf("told %q of none", lines)
	}
}
