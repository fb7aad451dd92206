// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"slices"
	"time"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// ClusterUses is what the containers of a workload's Pods use in one cluster.
type ClusterUses struct {
	Cluster string
	Outcome Outcome
	// Silence is why the cluster is Silent; nil if it is not.
	Silence *fleet.Silence
	// Pods are in order of their names, each once; none unless the cluster Answered. One that has not been measured yet is
	// not among them.
	Pods []PodUses
}

// Outcome is what became of a question in one cluster.
type Outcome string

// What becomes of a question. Only a cluster that Answered says what its Pods use: of all others that is not known.
const (
	Answered Outcome = "Answered"
	// Absent clusters do not serve the API.
	Absent Outcome = "Absent"
	// Silent clusters did not answer, or their answer was lost.
	Silent Outcome = "Silent"
	// Missing clusters were not asked: whoever serves the API does not know them.
	Missing Outcome = "Missing"
)

// PodUses is what the containers of one Pod used.
type PodUses struct {
	Name string
	// Measured is the end of the Window in which that was so, by the cluster's own clock, which may be wrong. Zero if it is
	// not known.
	Measured time.Time
	Window   time.Duration
	// Containers are in order of their names, each once.
	Containers []ContainerUse
}

// ContainerUse is what one container used: thousandths of a core, rounded up, and bytes. What was not measured is None.
type ContainerUse struct {
	Name             string
	MilliCPU, Memory int64
}

// None is an amount that is not known, or that no machine can have.
const None int64 = -1

// Uses asks for what all containers of the workload's Pods use, with one request. There is an entry for each of the
// question's clusters, in order of their names, whether there is an answer or not. The error is why there is none. What is
// answered of other clusters is left out. See [Client.Ask] for what bounds an answer.
func (c *Client) Uses(ctx context.Context, q Question) ([]ClusterUses, error) {
	var list usesList
	arrived := false
	coverage, err := c.exchange(ctx, apiResource, c.listUsage(&q), func(r rest.Result) error {
		arrived = true
		return list.read(r)
	})
	outcomes := outcomes{coverage: coverage}
	if err != nil {
		outcomes.fail(err, arrived)
		err = apiResource.unable(err)
	}
	found := locate[int](&q, len(list.pods))
	for i := range list.pods {
		found.add(list.pods[i].cluster(), list.pods[i].name, i)
	}
	clusters := slices.Compact(slices.Sorted(slices.Values(q.Clusters)))
	uses := make([]ClusterUses, len(clusters))
	for i, cluster := range clusters {
		uses[i] = outcomes.of(cluster)
		if uses[i].Outcome == Answered {
			uses[i].Pods = list.inOrder(found.samples[cluster])
		}
	}
	return uses, err
}

// outcomes tells what became of a question in each cluster.
type outcomes struct {
	coverage *fleet.Coverage // nil: the server knows of no fleet, and what it says is the whole
	silence  *fleet.Silence  // of all of whom nothing else is known; nil if there is an answer
	absent   bool            // the hub does not serve the API
}

// fail notes that there is no answer. Arrived says that there is one, which cannot be read.
func (o *outcomes) fail(err error, arrived bool) {
	o.silence, o.absent = fleet.Classify(err)
	if arrived {
		o.silence, o.absent = &fleet.Silence{Reason: fleet.ReasonBadAnswer, Detail: err.Error()}, false
	}
}

func (o *outcomes) of(cluster string) ClusterUses {
	coverage := fleet.Coverage{Answered: []string{cluster}}
	if o.coverage != nil {
		coverage = *o.coverage
	}
	at := slices.IndexFunc(coverage.Silent, func(s fleet.SilentMember) bool { return s.Cluster == cluster })
	switch {
	case at >= 0:
		return ClusterUses{Cluster: cluster, Outcome: Silent, Silence: &coverage.Silent[at].Silence}
	case o.silence != nil:
		return ClusterUses{Cluster: cluster, Outcome: Silent, Silence: o.silence}
	case o.absent, slices.Contains(coverage.Absent, cluster):
		return ClusterUses{Cluster: cluster, Outcome: Absent}
	case slices.Contains(coverage.Answered, cluster):
		return ClusterUses{Cluster: cluster, Outcome: Answered}
	}
	return ClusterUses{Cluster: cluster, Outcome: Missing}
}
