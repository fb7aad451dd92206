// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// What cannot be scaled is said in Kubernetes' words.
func (s *stage) nothingToScale() {
	metrics := "maxReplicas: 3, metrics: [" + s.byQueue(10) + "]"
	s.apply("hub", s.autoscalerOf("absent", metrics))
	s.apply("hub", s.autoscalerOf("nowhere", metrics+", replicaDistribution: {}"))
	s.apply("hub", scaling(s.autoscalerOf("fixed", metrics), "batch/v1", "Job"))
	s.apply("hub", scaling(s.autoscalerOf("unknown", metrics), "example.com/v1", "Thing"))
	for name, words := range map[string]string{
		"absent":  `deployments.apps "absent" not found`,
		"nowhere": `no cluster can scale Deployment "nowhere": member1: TargetNotFound; member2: TargetNotFound; member3: TargetNotFound`,
		"fixed":   `the server could not find the requested resource`,
		"unknown": `no matches for kind "Thing" in group "example.com"`,
	} {
		s.comesTo(name, "it says what is missing", isIn(v1alpha1.StateFailing),
			says(able+"=False/FailedGetScale", "the HPA controller was unable to get the target's current scale: ", words))
		s.hasEvent("Warning", "FailedGetScale", words)
	}
	s.hasEvent("Warning", "ClusterStateChanged", "cluster member2 is Excluded: there is no Deployment \"nowhere\" that can be scaled",
		`deployments.apps "nowhere" not found`)
}

// scaling has an autoscaler scale another kind.
func scaling(autoscaler, apiVersion, kind string) string {
	return strings.Replace(autoscaler, "apiVersion: apps/v1, kind: Deployment", "apiVersion: "+apiVersion+", kind: "+kind, 1)
}

// A workload without what its metrics need keeps its replicas.
func (s *stage) nothingToGoBy() {
	// Pods of this one request memory and no cpu.
	s.apply("member1", strings.NewReplacer("web", "bare", "cpu: 100m", "memory: 1Mi").Replace(webOf(s.kind, 2, false)))
	s.apply("member1", strings.ReplaceAll(webOf(s.kind, 2, false), "web", "deaf"))
	s.apply("member1", strings.ReplaceAll(webOf(s.kind, 2, false), "web", "mute"))
	where := ", clusterAffinity: {clusterNames: [member1]}, replicaDistribution: {}"
	s.apply("hub", s.autoscalerOf("bare", "maxReplicas: 9, metrics: ["+byCPU+"]"+where))
	s.apply("hub", s.autoscalerOf("deaf", "maxReplicas: 9, metrics: ["+s.byQueue(10)+"]"+where))
	s.apply("hub", s.autoscalerOf("mute", "maxReplicas: 9, metrics: ["+strings.ReplaceAll(byRPS, "rps", "nobody-has-it")+"]"+where))
	s.comesTo("bare", "it says what is missing", isIn(v1alpha1.StateFailing),
		says(active+"=False/FailedGetResourceMetric", "the HPA was unable to compute the replica count: failed to get cpu utilization: ",
			"missing request for cpu in container bare of Pod bare-"))
	s.comesTo("deaf", "it says what is missing", isIn(v1alpha1.StateFailing),
		says(active+"=False/FailedGetExternalMetric",
			"the HPA was unable to compute the replica count: unable to get external metric fed-nofigures/fed-nofigures-queue/nil: "))
	s.comesTo("mute", "it says what is missing", isIn(v1alpha1.StateFailing),
		says(active+"=False/FailedGetPodsMetric", "the HPA was unable to compute the replica count: unable to get metric nobody-has-it: "))
	for _, reason := range []string{"FailedGetResourceMetric", "FailedGetExternalMetric", "FailedGetPodsMetric",
		"FailedComputeMetricsReplicas"} {
		s.hasEvent("Warning", reason)
	}
	for _, name := range []string{"bare", "deaf", "mute"} {
		if got, err := s.replicasIn(s.t.Context(), name, "member1"); err != nil || !strings.HasPrefix(got, "2") {
			s.t.Errorf("%s runs %s replicas (%v), want the 2 that it had", name, got, err)
		}
	}
}

// Two that count the same Pods stop, and the one that is left continues.
func (s *stage) twoOfTheSamePods() {
	s.queue("40")
	s.propagate(2, "member1", "member2")
	s.apply("hub", strings.Replace(webOf(s.kind, 2, true), "name: web", "name: other", 1))
	// Before both have counted, each is alone; so nothing is to be done at first.
	idle := "minReplicas: 2, maxReplicas: 2, metrics: [" + s.byQueue(10) + "]"
	s.apply("hub", s.autoscalerOf("other", idle))
	s.autoscale(idle)
	for _, name := range []string{"web", "other"} {
		s.comesTo(name, "it is not alone", isIn(v1alpha1.StateFailing),
			says(active+"=False/AmbiguousSelector", "pods by selector app=web are controlled by more than one HPA (e.g. [fed-same/",
				"fed-same/other", "fed-same/web"))
	}
	s.hasEvent("Warning", "AmbiguousSelector", "fed-same/other", "fed-same/web")
	s.change(`{"spec":{"maxReplicas":10}}`)
	if err := s.autoscalers().Delete(s.t.Context(), "other", metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.runs("hub 4, member1 2, member2 2")
}

// A HorizontalPodAutoscaler that a member has of its own is not fought: what it
// scales is not touched, and where that cannot be, nothing is scaled.
func (s *stage) memberHasItsOwn() {
	s.uses(map[string]string{"member1": "10m", "member2": "10m"})
	s.queue("20")
	for _, name := range []string{"web", "town"} {
		for _, member := range []string{"member1", "member2"} {
			s.apply(member, strings.ReplaceAll(webOf(s.kind, 1, false), "web", name))
		}
		s.apply("member1", fmt.Sprintf("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: local-%[1]s}\nspec: "+
			"{scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}, maxReplicas: 1, metrics: [%[2]s]}\n", name, byCPU))
	}
	s.apply("hub", strings.ReplaceAll(webOf(s.kind, 2, true), "web", "town"))
	where := ", clusterAffinity: {clusterNames: [member1, member2]}"
	s.autoscale("minReplicas: 2, maxReplicas: 4, metrics: [" + s.byQueue(10) + "]" + where + ", replicaDistribution: {}")
	s.apply("hub", s.autoscalerOf("town", "minReplicas: 2, maxReplicas: 4, metrics: ["+s.byQueue(10)+"]"+where))
	s.comes("that member is ignored", hasClusters("member1 Conflict 1, member2 Active 1"))
	s.hasEvent("Warning", "ClusterStateChanged", "cluster member1 is Conflict", "HorizontalPodAutoscaler fed-rival/local-web")
	s.comesTo("town", "it cannot leave one out", isIn(v1alpha1.StateFailing),
		says(active+"=False/AmbiguousSelector", "HorizontalPodAutoscaler fed-rival/local-town"))

	s.queue("40")
	s.runs("member1 1, member2 3")
	for _, name := range []string{"local-web", "local-town"} {
		if err := s.resource("member1", "autoscaling/v2", "HorizontalPodAutoscaler").Delete(s.t.Context(), name,
			metav1.DeleteOptions{}); err != nil {
			s.t.Fatal(err)
		}
	}
	s.comes("it is the only one", hasClusters("member1 Active 1, member2 Active 3"))
	s.comesTo("town", "it is the only one", says(active+"=True/ValidMetricFound"))
}
