// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

const limitsPath = "/api/v1/namespaces/shop/limitranges"

func amounts(cpu, memory string) corev1.ResourceList {
	list := corev1.ResourceList{"ephemeral-storage": resource.MustParse("7")}
	if cpu != "" {
		list["cpu"] = resource.MustParse(cpu)
	}
	if memory != "" {
		list["memory"] = resource.MustParse(memory)
	}
	return list
}

func resources(milliCPU, memory int64) pods.Resources {
	return pods.Resources{MilliCPU: milliCPU, Memory: memory}
}

func limitRange(name string, items ...corev1.LimitRangeItem) corev1.LimitRange {
	return corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.LimitRangeSpec{Limits: items}}
}

func TestLimitRanges(t *testing.T) {
	const none = pods.None
	nothing := func(edit func(*LimitRanges)) LimitRanges {
		free := LimitRange{resources(none, none), resources(none, none), Ratios{none, none}}
		l := LimitRanges{Container: free, Pod: free, DefaultRequests: resources(none, none), DefaultLimits: resources(none, none)}
		edit(&l)
		return l
	}
	container := func(l corev1.LimitRangeItem) corev1.LimitRangeItem {
		l.Type = corev1.LimitTypeContainer
		return l
	}
	tests := map[string]struct {
		ranges []corev1.LimitRange
		want   LimitRanges
	}{
		"none": {nil, nothing(func(*LimitRanges) {})},
		"all that one can say, each of its type": {
			[]corev1.LimitRange{limitRange("a",
				container(corev1.LimitRangeItem{
					Min: amounts("100m", "1Mi"), Max: amounts("2", "1Gi"), MaxLimitRequestRatio: amounts("2", "1500m"),
					Default: amounts("1", "512Mi"), DefaultRequest: amounts("500m", "256Mi"),
				}),
				corev1.LimitRangeItem{Type: corev1.LimitTypePod, Min: amounts("200m", ""), Max: amounts("", "2Gi"),
					MaxLimitRequestRatio: amounts("3", "")},
				corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Max: amounts("1", "1")})},
			nothing(func(l *LimitRanges) {
				l.Container = LimitRange{resources(100, 1<<20), resources(2000, 1<<30), Ratios{2000, 1500}}
				l.Pod = LimitRange{resources(200, none), resources(none, 2<<30), Ratios{3000, none}}
				l.DefaultLimits, l.DefaultRequests = resources(1000, 512<<20), resources(500, 256<<20)
			}),
		},
		"of several the strictest bounds and the first defaults count": {
			[]corev1.LimitRange{
				limitRange("b", container(corev1.LimitRangeItem{Min: amounts("1", "1"), Max: amounts("4", "9"),
					MaxLimitRequestRatio: amounts("2", "3"), Default: amounts("2", "2"), DefaultRequest: amounts("2", "2")})),
				limitRange("a", container(corev1.LimitRangeItem{Min: amounts("2", ""), Max: amounts("5", "8"),
					MaxLimitRequestRatio: amounts("3", "2"), Default: amounts("1", ""), DefaultRequest: amounts("", "1")})),
			},
			nothing(func(l *LimitRanges) {
				l.Container = LimitRange{resources(2000, 1), resources(4000, 8), Ratios{2000, 2000}}
				l.DefaultLimits, l.DefaultRequests = resources(1000, 2), resources(2000, 1)
			}),
		},
		"what is not whole is rounded to what is allowed": {
			[]corev1.LimitRange{limitRange("a", container(corev1.LimitRangeItem{
				Min: amounts("1500u", "1500m"), Max: amounts("1500u", "1500m"), MaxLimitRequestRatio: amounts("1500500u", ""),
			}))},
			nothing(func(l *LimitRanges) {
				l.Container = LimitRange{resources(2, 2), resources(1, 1), Ratios{1500, none}}
			}),
		},
		"nothing at all is a bound, and more than there can be is none": {
			[]corev1.LimitRange{limitRange("a", container(corev1.LimitRangeItem{Max: amounts("0", "9223372036854775807")}),
				container(corev1.LimitRangeItem{Max: amounts("1", "")}))},
			nothing(func(l *LimitRanges) { l.Container.Max.MilliCPU = 0 }),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, e := newFakeMember(), estimatorOf(Options{})
				m.lists[limitsPath] = &corev1.LimitRangeList{Items: tc.ranges}
				defer run(t, e)()
				got := e.LimitRanges(t.Context(), m, "shop")
				if !got.Known || got.Unknown != nil || got.AsOf.IsZero() {
					t.Errorf("known %v, because of %v, as of %v", got.Known, got.Unknown, got.AsOf)
				}
				got.Known, got.AsOf = false, time.Time{}
				fleettest.Same(t, "LimitRanges()", tc.want, got)
			})
		})
	}
}

// Members in which nobody sizes Pods are not asked for LimitRanges, and need not allow it.
func TestLimitRangesAreWatchedOnceTheyAreAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		m.lists[limitsPath] = &corev1.LimitRangeList{}
		defer run(t, e)()
		expect(t, e, m, "3")
		e.LargestNodes(t.Context(), m, oneCPU().Template)
		synctest.Wait()
		if slices.Contains(m.asked(), limitsPath+" watch=false") {
			t.Error("asked before there was a question")
		}
		for range 2 {
			e.LimitRanges(t.Context(), m, "shop")
			synctest.Wait()
		}
		fleettest.Same(t, "asked", []string{limitsPath + " watch=false", limitsPath + " watch=true"}, m.asked())
		time.Sleep(10 * time.Minute)
		if asked := m.asked(); asked != nil {
			t.Errorf("asked although nobody wants to know: %v", asked)
		}
	})
}

func TestLargestNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		nodes := m.lists[nodesPath].(*corev1.NodeList)
		nodes.Items[0].Status.Allocatable = amounts("4", "8Gi")
		large := nodes.Items[0].DeepCopy()
		large.Name, large.Labels, large.Status.Allocatable = "node1", map[string]string{"disk": "ssd"}, amounts("2", "64Gi")
		nodes.Items = append(nodes.Items, *large)
		defer run(t, e)()
		template := oneCPU().Template
		got := e.LargestNodes(t.Context(), m, template)
		if !got.Known || got.Unknown != nil || got.AsOf.IsZero() {
			t.Errorf("known %v, because of %v, as of %v", got.Known, got.Unknown, got.AsOf)
		}
		fleettest.Same(t, "Nodes", []pods.Resources{resources(4000, 8<<30), resources(2000, 64<<30)}, got.Nodes)
		fleettest.Same(t, "one that is there", resources(2000, 64<<30), got.Allocatable("node1"))
		fleettest.Same(t, "one that is not", resources(pods.None, pods.None), got.Allocatable("node9"))
		template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		fleettest.Same(t, "Nodes of some", []pods.Resources{resources(2000, 64<<30)}, e.LargestNodes(t.Context(), m, template).Nodes)
		synctest.Wait()
		asked := m.asked()
		slices.Sort(asked)
		fleettest.Same(t, "asked", []string{nodesPath + " watch=false", nodesPath + " watch=true"}, asked)
	})
}

func TestWhatBoundsSizesIsUnknownWhereItCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		m.refused = "s" // all
		defer run(t, e)()
		limits, nodes := e.LimitRanges(t.Context(), m, "shop"), e.LargestNodes(t.Context(), m, oneCPU().Template)
		quota := e.QuotaLeft(t.Context(), m, "shop", oneCPU().Template, nil)
		if limits.Known || limits.Unknown == nil || limits.Unknown.Error() != "Forbidden: limitranges cannot be read: not for you" {
			t.Errorf("LimitRanges are %+v", limits)
		}
		if nodes.Known || nodes.Unknown == nil || nodes.Unknown.Error() != "Forbidden: nodes cannot be read: not for you" {
			t.Errorf("largest nodes are %+v", nodes)
		}
		if quota.Known || quota.Unknown == nil || quota.Unknown.Error() != "Forbidden: resourcequotas cannot be read: not for you" {
			t.Errorf("what is left of quotas is %+v", quota)
		}
	})
}
