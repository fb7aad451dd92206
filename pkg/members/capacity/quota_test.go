// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// quotaOf allows so much, of which so much is used. Amounts are by name.
func quotaOf(hard, used map[corev1.ResourceName]string, scopes ...corev1.ResourceQuotaScope) corev1.ResourceQuota {
	q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}
	q.Spec.Scopes = scopes
	q.Status.Hard, q.Status.Used = corev1.ResourceList{}, corev1.ResourceList{}
	for name, amount := range hard {
		q.Status.Hard[name] = resource.MustParse(amount)
	}
	for name, amount := range used {
		q.Status.Used[name] = resource.MustParse(amount)
	}
	return q
}

// sizedPods are n of one container that requests and limits so much.
func sizedPods(n int, phase corev1.PodPhase, requests, limits pods.Resources) []pods.SizedPod {
	containers := []pods.Container{{Name: "a", Requests: requests, Limits: limits}}
	return slices.Repeat([]pods.SizedPod{{Pod: replicas.Pod{Phase: phase}, Containers: containers}}, n)
}

func TestQuotaLeft(t *testing.T) {
	const none = pods.None
	type list = map[corev1.ResourceName]string
	nothing := resources(none, none)
	running := func(n int, milliCPU, memory int64) []pods.SizedPod {
		return sizedPods(n, corev1.PodRunning, resources(milliCPU, memory), nothing)
	}
	tests := map[string]struct {
		quotas           []corev1.ResourceQuota
		ours             []pods.SizedPod
		requests, limits pods.Resources
	}{
		"none": {nil, running(2, 500, 1), nothing, nothing},
		"all that it can bound": {
			[]corev1.ResourceQuota{quotaOf(list{"cpu": "4", "memory": "4Gi", "limits.cpu": "8", "limits.memory": "8Gi"},
				list{"cpu": "3", "memory": "3Gi", "limits.cpu": "6", "limits.memory": "6Gi"})},
			sizedPods(2, corev1.PodRunning, resources(500, 1<<30), resources(1000, 2<<30)),
			resources(2000, 3<<30), resources(4000, 6<<30),
		},
		"what does not bound sizes": {[]corev1.ResourceQuota{quotaOf(list{"pods": "1", "requests.storage": "1"}, nil)}, nil, nothing, nothing},
		"Pods of several sizes, as they come": {[]corev1.ResourceQuota{quotaOf(list{"cpu": "4"}, list{"cpu": "4"})},
			slices.Concat(running(2, 100, none), running(1, 300, none), running(3, 100, none)), resources(800, none), nothing},
		"ours that have ended use nothing": {[]corev1.ResourceQuota{quotaOf(list{"cpu": "4"}, list{"cpu": "3"})},
			slices.Concat(sizedPods(1, corev1.PodSucceeded, resources(500, none), nothing),
				sizedPods(1, corev1.PodFailed, resources(500, none), nothing), sizedPods(1, corev1.PodPending, resources(500, none), nothing),
				running(1, 500, none)),
			resources(2000, none), nothing},
		"the least of several": {[]corev1.ResourceQuota{quotaOf(list{"cpu": "4", "limits.cpu": "1"}, nil),
			quotaOf(list{"cpu": "3", "limits.cpu": "2"}, nil)}, nil, resources(3000, none), resources(1000, none)},
		"one that is not charged": {[]corev1.ResourceQuota{quotaOf(list{"cpu": "1"}, nil, corev1.ResourceQuotaScopeTerminating),
			quotaOf(list{"cpu": "3"}, nil, corev1.ResourceQuotaScopeNotBestEffort)}, nil, resources(3000, none), nothing},
		"overdrawn": {[]corev1.ResourceQuota{quotaOf(list{"cpu": "1"}, list{"cpu": "9"})}, running(1, 500, none), resources(0, none), nothing},
		"what is not whole is rounded down": {[]corev1.ResourceQuota{quotaOf(list{"cpu": "1500u", "memory": "1500m"}, nil)}, nil,
			resources(1, 1), nothing},
		"more than there can be bounds nothing": {
			[]corev1.ResourceQuota{quotaOf(list{"cpu": "9223372036854775807", "memory": "9223372036854775807"},
				list{"cpu": "-9223372036854775807", "memory": "1"})}, running(9, math.MaxInt64, math.MaxInt64), nothing, nothing},
		"ours use more than there can be": {[]corev1.ResourceQuota{quotaOf(list{"cpu": "1", "memory": "1"}, list{"cpu": "9E", "memory": "9E"})},
			running(9000, math.MaxInt64, math.MaxInt64), resources(1000, 1), nothing},
		"others use more than there can be": {[]corev1.ResourceQuota{quotaOf(list{"cpu": "1"}, list{"cpu": "9223372036854775807"})},
			running(2, 500, none), resources(0, none), nothing},
		"less than nothing": {[]corev1.ResourceQuota{quotaOf(list{"cpu": "1", "memory": "5", "limits.cpu": "-1"},
			list{"cpu": "-3", "memory": "-3"})}, running(2, math.MinInt64, math.MinInt64), resources(1000, 5), resources(0, none)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, e := newFakeMember(), estimatorOf(Options{})
				for i := range tc.quotas {
					tc.quotas[i].Name = fmt.Sprintf("q%d", i)
				}
				m.lists[quotasPath] = &corev1.ResourceQuotaList{Items: tc.quotas}
				defer run(t, e)()
				got := e.QuotaLeft(t.Context(), m, "shop", oneCPU().Template, tc.ours)
				if !got.Known || got.Unknown != nil || got.AsOf.IsZero() {
					t.Errorf("known %v, because of %v, as of %v", got.Known, got.Unknown, got.AsOf)
				}
				got.Known, got.AsOf = false, time.Time{}
				fleettest.Same(t, "QuotaLeft()", QuotaLeft{Requests: tc.requests, Limits: tc.limits}, got)
			})
		})
	}
}

// The quotas are those that estimates rest on: who asks for both has them watched once, and no nodes or Pods for this.
func TestQuotaLeftAsksForQuotasOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		defer run(t, e)()
		for range 2 {
			e.QuotaLeft(t.Context(), m, "shop", oneCPU().Template, nil)
			synctest.Wait()
		}
		fleettest.Same(t, "asked", []string{quotasPath + " watch=false", quotasPath + " watch=true"}, m.asked())
		expect(t, e, m, "3")
		synctest.Wait()
		if asked := m.asked(); slices.ContainsFunc(asked, func(path string) bool { return path == quotasPath+" watch=false" }) {
			t.Errorf("asked for quotas again: %v", asked)
		}
	})
}
