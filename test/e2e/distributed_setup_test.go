// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/test/lab"
)

// failoverGrace is how long a silent member keeps its part of the bounds.
const failoverGrace = 8 * time.Second

// propagationGrace is how long members need not follow the hub.
const propagationGrace = 8 * time.Second

// launchDistributed is launchFederated for cases of distributed mode.
func launchDistributed(t *testing.T, e *env) *federated {
	t.Helper()
	f := &federated{env: e, clients: map[string]dynamic.Interface{}}
	t.Cleanup(func() { f.tidy(t) })
	f.connect(t)
	for namespace, prepare := range map[string]func(*stage){
		"dist-copies": (*stage).busyInTwo, "dist-handover": (*stage).onTarget,
	} {
		prepare(f.stage(t, namespace))
	}
	if err := f.install(t); err != nil {
		t.Fatal(err)
	}
	for _, member := range f.Members() {
		if err := f.LetCreate(t.Context(), member); err != nil {
			t.Fatal(err)
		}
	}
	f.startPair(t, "distributed", append(federatedFlags(), "--create-workloads", "--failover-grace="+failoverGrace.String(),
		"--propagation-grace="+propagationGrace.String()))
	t.Cleanup(func() { f.release(t) })
	return f
}

// release deletes all FederatedHPAs while there is somebody who lets them go.
func (f *federated) release(t *testing.T) {
	if _, err := f.Ask(afterwards(t), "delete", "fhpa", "--all", "--all-namespaces", "--timeout=60s"); err != nil {
		t.Error(err)
	}
}

// slots lets so many Pods that need one fit into members.
func (s *stage) slots(numbers map[string]int) {
	s.t.Helper()
	for _, member := range slices.Sorted(maps.Keys(numbers)) {
		nodes := s.clients[member].Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"})
		patch := fmt.Appendf(nil, `{"status":{"capacity":{%[1]q:"%[2]d"},"allocatable":{%[1]q:"%[2]d"}}}`, s.slot(), numbers[member])
		if _, err := nodes.Patch(s.t.Context(), member+"-node1", types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
			s.t.Fatal(err)
		}
	}
}

// slot returns what the nodes have for this case alone.
func (s *stage) slot() string { return "e2e.fleetscale.io/" + s.ns }

// inSlots is webOf with Pods that need a slot each.
func (s *stage) inSlots(replicas int) string {
	const requests = "{requests: {cpu: 100m}}"
	return strings.Replace(webOf(s.kind, replicas, false), requests, fmt.Sprintf("{requests: {cpu: 100m, %[1]s: 1}, limits: {%[1]s: 1}}",
		s.slot()), 1)
}

// runInSlots has members run so many replicas that need a slot each. What they can host is known once these are Ready.
func (s *stage) runInSlots(replicas map[string]int) {
	s.t.Helper()
	var all []string
	for _, member := range slices.Sorted(maps.Keys(replicas)) {
		s.apply(member, s.inSlots(replicas[member]))
		all = append(all, fmt.Sprintf("%s %d", member, replicas[member]))
	}
	s.runs(strings.Join(all, ", "))
}

// queues sets the metric of [stage.queue], by member: each is seen by that
// member's autoscaler alone.
func (s *stage) queues(lengths map[string]string) {
	s.t.Helper()
	for _, member := range slices.Sorted(maps.Keys(lengths)) {
		series := lab.Series{Metric: s.ns + "-queue", Value: resource.MustParse(lengths[member])}
		if err := s.member(s.t, member).SetSeries(s.t.Context(), series); err != nil {
			s.t.Fatal(err)
		}
	}
}

// distribute makes a FederatedHPA of the workload that takes 10 of the queue
// per replica. The rest of its spec, and that of federatedHPAAssignment, are
// YAML in the flow style, without the braces.
func (s *stage) distribute(bounds, assignment, rest string) {
	s.t.Helper()
	s.autoscale(fmt.Sprintf("%s, metrics: [%s], federatedHPAAssignment: {%s}%s", bounds, s.byQueue(10), assignment, rest))
}

// Assignments: three weights, and the same for all.
const (
	weights123 = "federatedHPAAssignmentType: StaticWeighted, clusterAutoscalingPreference: [" +
		"{targetCluster: {clusterNames: [member1]}, staticWeight: 1}, {targetCluster: {clusterNames: [member2]}, staticWeight: 2}, " +
		"{targetCluster: {clusterNames: [member3]}, staticWeight: 3}]"
	equally = "federatedHPAAssignmentType: StaticWeighted"
)
