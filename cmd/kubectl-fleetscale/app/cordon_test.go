// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const (
	eastSecret   = "/api/v1/namespaces/fleetscale-clusters/secrets/east"
	northSecret  = "/api/v1/namespaces/fleetscale-clusters/secrets/secret-of-north"
	eastCluster  = "/apis/cluster.karmada.io/v1alpha1/clusters/east"
	southCluster = "/apis/cluster.karmada.io/v1alpha1/clusters/south"
)

func registered(t *testing.T) (hub *objects, kubeconfig string) {
	t.Helper()
	hub = &objects{}
	hub.hold(t, eastSecret, "{apiVersion: v1, kind: Secret, metadata: {labels: {fleetscale.io/member: 'true'}}}")
	hub.hold(t, northSecret, "{apiVersion: v1, kind: Secret, metadata: {annotations: {fleetscale.io/cluster-name: north}}}")
	hub.hold(t, eastCluster, "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {}, spec: {}}")
	hub.hold(t, southCluster, "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {}, spec: "+
		"{taints: [{key: cluster.karmada.io/not-ready, effect: NoSchedule}]}}")
	hub.hold(t, autoscalers+"federatedhpas/web", "{apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, metadata: {}, "+
		"spec: {replicaDistribution: {}}, status: {clusters: [{name: east, currentReplicas: 4}]}}")
	return hub, hub.serve(t)
}

func TestCordonDrainUncordon(t *testing.T) {
	hub, kubeconfig := registered(t)
	do := func(want string, args ...string) {
		t.Helper()
		out, err := run(t, append(args, "--kubeconfig", kubeconfig)...)
		if err != nil {
			t.Fatal(err)
		}
		fleettest.Same(t, strings.Join(args, " "), want, out)
	}
	do("east: Secret fleetscale-clusters/east: cordoned: it gets no more (server dry run)\n"+
		"east: Karmada Cluster east: cordoned: it gets no more (server dry run)\n", "cordon", "east", "--dry-run=server")
	if set := hub.at(eastSecret, "metadata", "annotations"); set != nil {
		t.Errorf("a dry run set %v", set)
	}
	do("east: Secret fleetscale-clusters/east: cordoned: it gets no more\neast: Karmada Cluster east: cordoned: it gets no more\n"+
		"north: Secret fleetscale-clusters/secret-of-north: cordoned: it gets no more\n", "cordon", "east", "north")
	fleettest.Same(t, "annotation", any("true"), hub.at(eastSecret, "metadata", "annotations", "fleetscale.io/cordon"))
	fleettest.Same(t, "taints", any([]any{map[string]any{"key": "cluster.karmada.io/unschedulable", "effect": "NoSchedule"}}),
		hub.at(eastCluster, "spec", "taints"))
	do("east: Secret fleetscale-clusters/east: drained: others take its part over\n"+
		"east: Karmada Cluster east: drained: others take its part over\n"+
		"east: still there:\nNAMESPACE   FEDERATEDHPA   REPLICAS   THEN\n"+
		"shop        web            4          goes to the others at once, as far as they have room\n",
		"drain", "east")
	do("north: Secret fleetscale-clusters/secret-of-north: drained: others take its part over\nnorth: no FederatedHPA has anything there\n",
		"drain", "north")
	do("east: Secret fleetscale-clusters/east: uncordoned\neast: Karmada Cluster east: uncordoned\n"+
		"south: Karmada Cluster south: unchanged: it is neither cordoned nor drained by this command; but it gets no more, by its taint "+
		"cluster.karmada.io/not-ready:NoSchedule, which others set\n", "uncordon", "east", "south")
	fleettest.Same(t, "annotations", any(map[string]any{}), hub.at(eastSecret, "metadata", "annotations"))

	out, err := run(t, "drain", "west", "north", "--kubeconfig", kubeconfig)
	fleettest.Same(t, "the one after a failure", "north: Secret fleetscale-clusters/secret-of-north: unchanged: it is drained already\n"+
		"north: no FederatedHPA has anything there\n", out)
	if err == nil || !strings.Contains(err.Error(), "clusterprofiles.multicluster.x-k8s.io west fleetscale.io/drain=true") {
		t.Errorf("a member of another source: %v", err)
	}
	out, err = run(t, "__complete", "cordon", "--kubeconfig", kubeconfig, "")
	if err != nil || !strings.HasPrefix(out, "east\nnorth\n") {
		t.Errorf("error %v, and members are not offered:\n%s", err, out)
	}
}
