// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/replicas/replicastest"
)

// randomQuestion has, beside what others have, faults of every kind: hidden clusters, Pods without requests, workloads without a selector.
func randomQuestion(r *rand.Rand) replicas.Question {
	q := replicastest.Question(r)
	q.Generation = r.Int64N(100)
	for i := range q.Metrics {
		if r.IntN(3) == 0 {
			q.Metrics[i].Coverage = randomCoverage(r, q.Clusters)
		}
	}
	for i := range q.Clusters {
		if r.IntN(8) == 0 {
			q.Clusters[i].Assigned = new(r.Int32N(9))
		}
	}
	c := &q.Clusters[r.IntN(len(q.Clusters))]
	switch r.IntN(40) {
	case 0:
		q.Scale.Err = errors.New("the workload is not there")
	case 1:
		q.Scale.Selector = ""
	case 2:
		q.Scale.Selector = "="
	case 3:
		c.Autoscalers = []string{"shop/cart", "shop/basket"}
	case 4:
		c.Selector = "app=other"
	case 5:
		for i := range c.Pods {
			c.Pods[i].Requests = replicas.RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{{Name: "bare"}}})
		}
	case 6:
		q.Clusters = nil
	case 7:
		q.Spec.MaxReplicas = q.Scale.Replicas / 2
	case 8:
		q.Metrics = q.Metrics[:len(q.Metrics)-1]
	case 9:
		q.State = replicas.State{}
	}
	return q
}

func randomCoverage(r *rand.Rand, clusters []replicas.Cluster) *fleet.Coverage {
	c := &fleet.Coverage{}
	for _, cluster := range clusters {
		switch r.IntN(12) {
		case 0:
			c.Silent = append(c.Silent, fleet.SilentMember{Cluster: cluster.Name, Silence: fleet.Silence{Reason: fleet.ReasonTimeout}})
			if r.IntN(2) == 0 {
				c.Covered = append(c.Covered, cluster.Name)
			}
		case 1:
			c.Drained = append(c.Drained, cluster.Name)
		case 2: // nobody asked it
		default:
			c.Answered = append(c.Answered, cluster.Name)
		}
	}
	return c
}

// recorded is the record of a decision on a question, and the decision.
func recorded(q replicas.Question) (*Record, replicas.Decision) {
	d := replicas.Decide(q)
	spec := &v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: q.Spec}
	r := New(Object{Namespace: q.Namespace, Name: "cart", UID: "1234"}, spec, &q, &d)
	for range q.Clusters {
		r.Facts = append(r.Facts, Facts{Ready: new(int32(4))})
	}
	return r, d
}

// through encodes and decodes records.
func through(t *testing.T, records ...*Record) []*Record {
	t.Helper()
	all, err := decodeAll(encode(t, records...))
	if err != nil || len(all) != len(records) {
		t.Fatalf("%d of %d records were read: %v", len(all), len(records), err)
	}
	return all
}

func encode(t testing.TB, records ...*Record) []byte {
	t.Helper()
	stream, encoder := []byte(Magic), NewEncoder()
	for _, r := range records {
		var err error
		if stream, err = encoder.Append(stream, r); err != nil {
			t.Fatal(err)
		}
	}
	return stream
}

func decodeAll(stream []byte) (all []*Record, err error) {
	d := NewDecoder(bytes.NewReader(stream))
	for {
		r, err := d.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
}

// same compares decisions: errors by their words, statuses by what they say and not since when.
var same = cmp.Options{
	cmpopts.IgnoreUnexported(replicas.Decision{}),
	cmpopts.IgnoreFields(autoscalingv2.HorizontalPodAutoscalerCondition{}, "LastTransitionTime"),
	cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
	cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }),
	cmpopts.EquateEmpty(),
}
