// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"slices"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// What many clusters change. One cluster alone is held to the real thing in test/differential/replicas.
func TestFleet(t *testing.T) {
	pending := func(pods int) func(*Cluster) {
		return func(c *Cluster) {
			for i := range c.Pods[:pods] {
				c.Pods[i].Phase = corev1.PodPending
			}
		}
	}
	unready := func(c *Cluster) {
		for i := range c.Pods {
			c.Pods[i].Ready.Status = corev1.ConditionFalse
		}
	}
	failed := func(c *Cluster) {
		for i := range c.Pods {
			c.Pods[i].Phase = corev1.PodFailed
		}
	}
	fromZero := func(q Question) Question {
		q.Spec.MinReplicas = new(int32)
		q.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{
			{Type: autoscalingv2.ScaledToZero, Status: corev1.ConditionTrue, Reason: ReasonScaledToZero}}
		return q.with(externalOf(value("100")), 250_000)
	}
	mute := func(c *Cluster) { c.Silent = &fleet.Silence{} }
	strangers := func(q Question) Question {
		q.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.PodsMetricSourceType,
			Pods: &autoscalingv2.PodsMetricSource{Target: share("250m")}}}
		q = q.use("east", 50)
		q.Metrics[0].Pods["west"] = map[string]Sample{"gone": {Value: 1500}}
		return q
	}
	onlyEast := func(q Question) Question { q.Metrics[0].Coverage = answered("east"); return q }
	without := func(q Question, name string) Question {
		others := slices.DeleteFunc(slices.Clone(q.Clusters), func(c Cluster) bool { return c.Name == name })
		q.Metrics[0].Coverage = answered(names(others)...)
		return q
	}
	partialSum := func(q Question) Question {
		q.Metrics[0].Coverage = &fleet.Coverage{Answered: []string{"east"},
			Silent: []fleet.SilentMember{{Cluster: "west", Silence: fleet.Silence{Reason: fleet.ReasonTimeout}}}}
		return q
	}
	covered := func(q Question) Question {
		q = partialSum(q)
		q.Metrics[0].Coverage.Covered = []string{"west"}
		return q
	}
	aged := func(replicas *int32, lagging bool) func(*Cluster) {
		return func(c *Cluster) { c.Replicas, c.Lagging = replicas, lagging }
	}
	last := func(n int32) func(*Cluster) { return func(c *Cluster) { silent(c); c.LastReady = n } }
	tests := map[string]struct {
		question Question
		want     string
	}{
		"equal names in two clusters are two Pods": {
			ask(10, cluster("east", 5), cluster("west", 5)).use("east", 20).use("west", 90), "10"},
		"ten busy Pods of twenty ask for more": {
			ask(20, cluster("east", 10), cluster("west", 10)).use("east", 90).use("west", 90), "36"},
		"Pods of a silent cluster stay counted, as idle ones on the way up": {
			ask(20, cluster("east", 10), cluster("west", 10, silent)).use("east", 60), "20 ClusterUnreachable"},
		"what visible Pods prove raises the replicas": {
			ask(20, cluster("east", 10), cluster("west", 10, silent)).use("east", 150), "30 ClusterUnreachable"},
		"nothing is taken away while a cluster is silent": {
			ask(20, cluster("east", 18), cluster("west", 2, silent)).use("east", 1), "20 ClusterUnreachable"},
		"nor while one is silent for no reason": {
			ask(20, cluster("east", 18), cluster("west", 2, mute)).use("east", 1), "20 ClusterUnreachable"},
		"the same with all in sight": {
			ask(20, cluster("east", 10), cluster("west", 10)).use("east", 1).use("west", 1), "1"},
		"Pods that are seen without their metrics hide the cluster too": {
			onlyEast(ask(20, cluster("east", 18), cluster("west", 2)).use("east", 1)), "20 ClusterUnreachable"},
		"samples of a cluster that is not proven present do not count": {
			onlyEast(ask(20, cluster("east", 10), cluster("west", 10)).use("east", 60).use("west", 300)), "20 ClusterUnreachable"},
		"a metric whose absence from others is known holds nothing": {
			covered(ask(20, cluster("east", 10), cluster("west", 10)).with(externalOf(value("100")), 10_000)), "2"},
		"a silent cluster of which no Pod was seen counts as assigned": {
			ask(20, cluster("east", 10), cluster("west", 0, silent, assigned(10))).use("east", 150), "30 ClusterUnreachable"},
		"a cluster that was never assigned any and is silent still holds": {
			ask(20, cluster("east", 20), cluster("west", 0, silent)).use("east", 1), "20 ClusterUnreachable"},
		"replicas that are not created yet are Pending Pods": {
			ask(20, cluster("east", 10, assigned(10)), cluster("west", 0, assigned(10))).use("east", 75), "20"},
		"without assignment they are not known of": {
			ask(20, cluster("east", 10), cluster("west", 0)).use("east", 75), "15"},
		"Pending Pods themselves do the same": {
			ask(20, cluster("east", 10, assigned(10)), cluster("west", 10, assigned(10), pending(10))).use("east", 75), "20"},
		"one cluster does not know of Pods that are not created yet": {
			ask(20, cluster("east", 10, assigned(20))).use("east", 75), "15"},
		"a failed Pod is one that is not created yet": {
			ask(20, cluster("east", 10, assigned(10)), cluster("west", 10, assigned(10), failed)).use("east", 75), "20"},
		"one cluster is never drained": {
			ask(10, cluster("east", 10, assigned(0))).use("east", 75), "15"},
		"Pods of a draining cluster are as good as gone": {
			ask(20, cluster("east", 20, assigned(20)), cluster("west", 20, assigned(0))).use("east", 50).use("west", 300), "20"},
		"a draining cluster has no samples of Pods that are gone": {
			strangers(ask(10, cluster("east", 10, assigned(10)), cluster("west", 0, assigned(0)))), "10"},
		"another cluster has": {
			strangers(ask(10, cluster("east", 10, assigned(10)), cluster("west", 0))), "15"},
		"unless a cluster cannot be seen": {
			strangers(ask(10, cluster("east", 10, assigned(10)), cluster("west", 0), cluster("north", 0, silent))), "10 ClusterUnreachable"},
		"or its samples cannot": {
			without(strangers(ask(10, cluster("east", 10), cluster("west", 0), cluster("north", 0))), "north"), "10 ClusterUnreachable"},
		"a draining cluster that is silent holds nothing": {
			ask(20, cluster("east", 20, assigned(20)), cluster("west", 20, silent, assigned(0))).use("east", 25), "10"},
		"a clock that is ahead does not make Pods young": {
			ask(10, cluster("east", 5, young(0)), cluster("west", 5, young(3*time.Minute))).use("east", 100).use("west", 100), "20"},
		"the same clock, not accounted for, does": {
			ask(10, cluster("east", 5, young(0)), cluster("west", 5, young(3*time.Minute), clock(0))).use("east", 100).use("west", 100), "10"},
		"one cluster has the hub's clock": {
			ask(5, cluster("west", 5, young(3*time.Minute), clock(time.Hour))).use("west", 100), "error FailedGetResourceMetric"},

		"Ready Pods of a silent cluster are those last seen": {
			ask(20, cluster("east", 10), cluster("west", 10, silent)).with(externalOf(value("100")), 150_000), "30 ClusterUnreachable"},
		"Ready Pods that are no longer known are remembered as a number": {
			ask(20, cluster("east", 10), cluster("west", 0, last(10))).with(externalOf(value("100")), 150_000), "30 ClusterUnreachable"},
		"a value over Ready Pods does not take away while a cluster is silent": {
			ask(20, cluster("east", 10), cluster("west", 10, silent)).with(externalOf(value("100")), 10_000), "20 ClusterUnreachable"},
		"no Ready Pod in sight is not believed": {
			ask(20, cluster("east", 10, unready), cluster("west", 0, silent)).with(externalOf(value("100")), 150_000),
			"error FailedGetExternalMetric ClusterUnreachable"},
		"no Ready Pod is believed with all in sight": {
			ask(20, cluster("east", 10, unready), cluster("west", 0)).with(externalOf(value("100")), 150_000), "1 TooFewReplicas"},

		"a sum that lacks a cluster raises": {
			partialSum(ask(20, cluster("east", 10), cluster("west", 10)).with(externalOf(value("100")), 150_000)), "30 ClusterUnreachable"},
		"a sum that lacks a cluster does not lower": {
			partialSum(ask(20, cluster("east", 10), cluster("west", 10)).with(externalOf(value("100")), 50_000)), "20 ClusterUnreachable"},

		"a sum that lacks a cluster where the workload is not placed does not lower either": {
			partialSum(ask(20, cluster("east", 20)).with(externalOf(value("100")), 50_000)), "20 ClusterUnreachable"},
		"a value that was asked of one cluster only is whole": {
			onlyEast(ask(20, cluster("east", 10), cluster("west", 10)).with(externalOf(value("100")), 50_000)), "10"},

		"replicas of the clusters add up": {
			ask(20, cluster("east", 10, aged(new(int32(10)), false)), cluster("west", 10, aged(new(int32(15)), false))).with(externalOf(share("1")),
				24_000), "25"},
		"a cluster of which none are known has those assigned": {
			ask(20, cluster("east", 10, aged(new(int32(10)), false)), cluster("west", 10, assigned(12))).with(externalOf(share("1")), 21_000), "22"},
		"or else its Pods": {
			ask(20, cluster("east", 10, aged(new(int32(10)), false)), cluster("west", 7)).with(externalOf(share("1")), 16_000), "17"},
		"while one lags behind, replicas that fit stay as they were told": {
			ask(20, cluster("east", 10, aged(new(int32(10)), false)), cluster("west", 10, aged(new(int32(15)), true))).with(externalOf(share("1")),
				25_000), "20"},
		"and change where they do not fit": {
			ask(20, cluster("east", 10, aged(new(int32(10)), false)), cluster("west", 10, aged(new(int32(15)), true))).with(externalOf(share("1")),
				35_000), "35"},
		"one cluster may lag as it likes": {
			ask(20, cluster("east", 10, aged(new(int32(25)), true))).with(externalOf(share("1")), 25_000), "25"},

		"bounds hold whatever can be seen": {
			ask(200, cluster("east", 10, silent)), "100"},
		"clusters that run nothing hold nothing, and the first value brings them back": {
			fromZero(ask(0, cluster("east", 0, assigned(0)), cluster("west", 0, silent, assigned(0)))), "3 ScaledToZero"},
		"the minimum too": {
			ask(0, cluster("east", 10, silent)), "0 ScalingDisabled"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { check(t, Decide(tc.question), tc.want) })
	}
}

// young makes Pods start six minutes ago by a clock that is ahead of the hub's, and become Ready after they were measured:
// by their own clock they are past their initialization, by another they may not be.
func young(ahead time.Duration) func(*Cluster) {
	return func(c *Cluster) {
		c.ClockOffset = ahead
		for i := range c.Pods {
			c.Pods[i].Started = start.Add(ahead - 6*time.Minute)
			c.Pods[i].Ready.Since = start.Add(time.Minute) // later than the samples
		}
	}
}

func clock(offset time.Duration) func(*Cluster) {
	return func(c *Cluster) { c.ClockOffset = offset }
}

func TestWhatIsSaidOfClusters(t *testing.T) {
	q := ask(20, cluster("west", 2, silent), cluster("north", 0, silent), cluster("east", 18)).use("east", 1)
	q.Generation = 3
	first := Decide(q)
	want := []Event{
		{"Warning", "ClusterUnreachable", "nothing is scaled down while clusters cannot be seen: north: Timeout, west: Timeout"},
		{"Warning", "ClusterUnreachable",
			"holding 20 replicas, where what can be seen calls for 4; clusters cannot be seen: north: Timeout, west: Timeout"},
	}
	same(t, "events", want, first.Events)
	same(t, "unseen", []Unseen{{"north", fleet.ReasonTimeout}, {"west", fleet.ReasonTimeout}}, first.Explanation.Unseen)
	if !first.Explanation.Held || first.Explanation.Recommended != 20 {
		t.Errorf("not held at 20: %+v", first.Explanation)
	}

	q.Status, q.State, q.Now = first.Status, first.State, start.Add(15*time.Second)
	second := Decide(q)
	same(t, "events, the second time", want[1:], second.Events)
	same(t, "conditions, the second time", first.Status.Conditions, second.Status.Conditions)

	q.Clusters[0].Silent, q.Clusters[1].Silent = nil, nil
	q = q.use("west", 1)
	q.Status, q.State, q.Now = second.Status, second.State, start.Add(30*time.Second)
	third := Decide(q)
	check(t, third, "20 ScaleDownStabilized")
	visible := find(third.Status.Conditions, "FleetVisible")
	if visible == nil || visible.Status != corev1.ConditionTrue || !visible.LastTransitionTime.Time.Equal(q.Now) {
		t.Errorf("FleetVisible is %+v", visible)
	}
	q.State, q.Now = third.State, start.Add(6*time.Minute)
	check(t, Decide(q), "1")
}

func TestOneClusterIsNotSpokenOf(t *testing.T) {
	d := Decide(ask(10, cluster("east", 10)).use("east", 50))
	if c := find(d.Status.Conditions, "FleetVisible"); c != nil {
		t.Errorf("one cluster in sight has %+v", c)
	}
	var types []autoscalingv2.HorizontalPodAutoscalerConditionType
	for _, c := range d.Status.Conditions {
		types = append(types, c.Type)
	}
	same(t, "conditions", []autoscalingv2.HorizontalPodAutoscalerConditionType{"AbleToScale", "ScalingActive", "ScalingLimited"}, types)
}

func TestAClusterThatComesBack(t *testing.T) {
	q := ask(10, cluster("east", 10)).use("east", 50)
	for _, step := range []struct {
		silent bool
		want   string
		events int
	}{
		{false, "10", 0},
		{true, "error FailedGetResourceMetric ClusterUnreachable", 3},
		{true, "error FailedGetResourceMetric ClusterUnreachable", 2}, // that it is silent has been said
		{false, "10", 0},
		{true, "error FailedGetResourceMetric ClusterUnreachable", 3},
	} {
		q.Clusters[0].Silent = nil
		if step.silent {
			silent(&q.Clusters[0])
		}
		d := Decide(q)
		check(t, d, step.want)
		if len(d.Events) != step.events {
			t.Errorf("events are %v, want %d", d.Events, step.events)
		}
		q.Status = d.Status
	}
	if c := find(q.Status.Conditions, "FleetVisible"); c == nil {
		t.Error("nothing is said of a cluster that was silent")
	}
}

func TestClustersAreNamedOnceAndNotWithoutEnd(t *testing.T) {
	q := ask(10, cluster("east", 10)).use("east", 300)
	q.Metrics[0].Coverage = &fleet.Coverage{Answered: []string{"east"}}
	for i := range 12 {
		name := fmt.Sprintf("m%02d", i)
		q.Clusters = append(q.Clusters, cluster(name, 0, silent))
		q.Metrics[0].Coverage.Silent = append(q.Metrics[0].Coverage.Silent,
			fleet.SilentMember{Cluster: name, Silence: fleet.Silence{Reason: fleet.ReasonForbidden}})
	}
	q.Clusters = append(q.Clusters, cluster("m12", 0))
	d := Decide(q)
	same(t, "the last", Unseen{"m12", ReasonNotAsked}, d.Explanation.Unseen[12])
	want := "nothing is scaled down while clusters cannot be seen: m00: Timeout, m01: Timeout, m02: Timeout, m03: Timeout, " +
		"m04: Timeout, m05: Timeout, m06: Timeout, m07: Timeout, m08: Timeout, m09: Timeout and 3 more"
	same(t, "message", want, find(d.Status.Conditions, "FleetVisible").Message)
}

func TestTheFirstReasonIsTold(t *testing.T) {
	q := ask(10, cluster("east", 10), cluster("west", 10))
	q.Spec.Metrics = append(q.Spec.Metrics, utilizationOf(corev1.ResourceMemory, 50))
	lacking := func(reason fleet.Reason) *fleet.Coverage {
		return &fleet.Coverage{Answered: []string{"east"},
			Silent: []fleet.SilentMember{{Cluster: "west", Silence: fleet.Silence{Reason: reason}}}}
	}
	q.Metrics = []Metric{{Coverage: lacking(fleet.ReasonTimeout)}, {Coverage: lacking(fleet.ReasonForbidden)}}
	same(t, "unseen", []Unseen{{"west", fleet.ReasonTimeout}}, Decide(q).Explanation.Unseen)
}

func TestOneAutoscalerAndOwnSelectorsAreFine(t *testing.T) {
	alone := func(c *Cluster) { c.Selector, c.Autoscalers = "app=own", []string{"shop/web"} }
	q := ask(10, cluster("east", 5, alone), cluster("west", 5, alone)).use("east", 50).use("west", 50)
	q.Scale.Selector = ""
	check(t, Decide(q), "10")
}

func TestErrorsNameTheClusterWhereThereAreSeveral(t *testing.T) {
	bare := func(c *Cluster) {
		c.Pods[1].Requests = RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{{Name: "proxy"}}})
	}
	rivals := func(c *Cluster) { c.Autoscalers = []string{"shop/a", "shop/b"} }
	own := func(c *Cluster) { c.Selector = "app=own" }
	garbled := func(c *Cluster) { c.Selector = "a b" }
	tests := map[string]struct {
		question Question
		want     string // the message of ScalingActive
	}{
		"no request": {
			ask(10, cluster("west", 5, bare), cluster("east", 5)).use("east", 50).use("west", 50),
			"the HPA was unable to compute the replica count: failed to get cpu utilization: cluster west: missing request for cpu in container " +
				"proxy of Pod web-1"},
		"no request, in one cluster": {
			ask(5, cluster("west", 5, bare)).use("west", 50),
			"the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in " +
				"container proxy of Pod web-1"},
		"two autoscalers": {
			ask(10, cluster("west", 5, rivals), cluster("east", 5)).use("east", 50),
			"cluster west: pods by selector app=web are controlled by more than one HPA (e.g. [shop/a shop/b])"},
		"two autoscalers, where the cluster has a selector of its own": {
			ask(10, cluster("west", 5, rivals, own), cluster("east", 5)).use("east", 50),
			"cluster west: pods by selector app=own are controlled by more than one HPA (e.g. [shop/a shop/b])"},
		"a cluster without selector": {
			func() Question {
				q := ask(10, cluster("west", 5, own), cluster("east", 5)).use("east", 50)
				q.Scale.Selector = ""
				return q
			}(),
			"the HPA target's scale is missing a selector"},
		"two autoscalers, in one cluster": {
			ask(10, cluster("west", 5, rivals)),
			"pods by selector app=web are controlled by more than one HPA (e.g. [shop/a shop/b])"},
		"a selector that cannot be read": {
			ask(10, cluster("west", 5, garbled), cluster("east", 5)),
			"cluster west: couldn't convert selector into a corresponding internal selector object: unable to parse requirement: found 'b', " +
				"expected: in, notin, =, ==, !=, gt, lt"},
		"no template to know assigned replicas by": {
			func() Question {
				q := ask(10, cluster("west", 5, assigned(6)), cluster("east", 5)).use("east", 50).use("west", 50)
				q.Template = nil
				return q
			}(),
			"the HPA was unable to compute the replica count: failed to get cpu utilization: cluster west: what Pod web (not created yet) " +
				"requests is not known"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.question)
			active := find(d.Status.Conditions, autoscalingv2.ScalingActive)
			if active == nil || active.Message != tc.want || d.Err == nil {
				t.Errorf("said %+v, want %s (error %v)", active, tc.want, d.Err)
			}
		})
	}
}
