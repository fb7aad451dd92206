// SPDX-License-Identifier: Apache-2.0

package podsizes_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
)

var (
	seed = flag.Uint64("seed", 0, "what Pods and sizes are drawn by; 0: the time")
	pods = flag.Int("pods", 0, "how many Pods are tried; 0: 1,000 with -short, and 30,000 otherwise")
)

// A size never makes an API server refuse a Pod that it accepts without; the Pod is sized as expected says, and not otherwise
// changed. That holds beside a LimitRange too, as long as sizes have no limits: these may be more than it allows.
func TestNoPodIsRefusedForItsSize(t *testing.T) {
	m := newMember(t)
	number, seed := *pods, *seed
	if number == 0 {
		if number = 30_000; testing.Short() {
			number = 1_000
		}
	}
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", seed)
	t.Run("alone", func(t *testing.T) { m.tryRandom(t, "random", seed, number*2/3, nil) })
	t.Run("beside a LimitRange", func(t *testing.T) { m.tryRandom(t, "random-ranged", seed+1, number/3, limitRange()) })
}

// limitRange has defaults and largest amounts, and no smallest ones.
func limitRange() *corev1.LimitRange {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	return &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "range"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, Default: list("500m", "512Mi"), DefaultRequest: list("100m", "64Mi"), Max: list("2", "1Gi")},
			{Type: corev1.LimitTypePod, Max: list("4", "3Gi")},
		}},
	}
}

// tryRandom compares random Pods in two namespaces, one of which has sizes. There are new sizes after every so many Pods.
func (m *member) tryRandom(t *testing.T, namespace string, seed uint64, number int, beside *corev1.LimitRange) {
	const entries, podsOfEach = 40, 16
	sized, bare := m.namespace(t, namespace), m.namespace(t, namespace+"-bare")
	if beside != nil {
		for _, namespace := range []string{sized, bare} {
			if _, err := m.client.CoreV1().LimitRanges(namespace).Create(t.Context(), beside, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			m.awaitRange(t, namespace)
		}
	}
	var seen tally
	for round := uint64(0); int(seen.tried.Load()) < number && !t.Failed(); round++ {
		var workloads []v1alpha1.SizedWorkload
		d := dice{rand.New(rand.NewPCG(seed, round)), beside != nil}
		for i := range entries {
			labels := map[string]string{"entry": strconv.Itoa(i)}
			workloads = append(workloads, d.workload(fmt.Sprintf("w%d", i), labels, beside == nil))
		}
		m.size(t, sized, workloads...)
		var running sync.WaitGroup
		for worker := range 4 {
			running.Go(func() {
				d := dice{rand.New(rand.NewPCG(seed, round<<8+uint64(worker)+1)), beside != nil}
				for i := worker; i < entries*podsOfEach && int(seen.tried.Load()) < number && !t.Failed(); i += 4 {
					w := workloads[i%entries]
					if fault := m.compare(t.Context(), sized, bare, d.pod(w.MatchLabels), w, &seen); fault != "" {
						t.Errorf("-seed %d, round %d, Pod %d: %s", seed, round, i, fault)
					}
				}
			})
		}
		running.Wait()
	}
	t.Logf("%d Pods: %d refused anyhow, %d sized, %d Guaranteed", seen.tried.Load(), seen.refused.Load(), seen.sized.Load(),
		seen.guaranteed.Load())
	if n := int64(number); seen.sized.Load() < n/4 || seen.refused.Load() < n/50 || seen.guaranteed.Load() < n/200 {
		t.Error("too few of a kind: the dice are loaded")
	}
}

// awaitRange returns when the API server applies a LimitRange, which has defaults, or refuses what has no resources.
func (m *member) awaitRange(t *testing.T, namespace string) {
	t.Helper()
	m.await(t, func(ctx context.Context) error {
		pod, err := m.try(ctx, namespace, podOf(nil, corev1.Container{Name: "app"}))
		if err == nil && len(pod.Spec.Containers[0].Resources.Limits) == 0 {
			return fmt.Errorf("%s has no LimitRange yet", namespace)
		}
		if apierrors.IsForbidden(err) {
			return nil
		}
		return err
	})
}

// tally is what Pods were tried.
type tally struct{ tried, refused, sized, guaranteed atomic.Int64 }

// compare tries a Pod with and without its size, and returns what is wrong.
func (m *member) compare(ctx context.Context, sized, bare string, pod *corev1.Pod, w v1alpha1.SizedWorkload, seen *tally) string {
	seen.tried.Add(1)
	before, err := m.try(ctx, bare, pod)
	if err != nil {
		seen.refused.Add(1)
		return ""
	}
	after, err := m.try(ctx, sized, pod)
	if err != nil {
		return fmt.Sprintf("refused: %v\nPod: %v\nsizes: %v", err, pod.Spec.Containers, w.Containers)
	}
	want, isSized := expected(before, w)
	by, told := after.Annotations[v1alpha1.SizedByAnnotation]
	if told != isSized {
		return fmt.Sprintf("sized by %q, want that %v\nPod: %v\nsizes: %v", by, isSized, before.Spec.Containers, w.Containers)
	}
	annotations := maps.Clone(after.Annotations)
	delete(annotations, v1alpha1.SizedByAnnotation)
	if !equality.Semantic.DeepEqual(want, after.Spec) || !equality.Semantic.DeepEqual(before.Annotations, annotations) {
		return fmt.Sprintf("got %v\nwant %v\nwithout a size %v\nsizes: %v", after.Spec, want, before.Spec, w.Containers)
	}
	if isSized {
		seen.sized.Add(1)
	}
	if before.Status.QOSClass == corev1.PodQOSGuaranteed {
		seen.guaranteed.Add(1)
		if after.Status.QOSClass != corev1.PodQOSGuaranteed {
			return fmt.Sprintf("was Guaranteed and is %s: %v", after.Status.QOSClass, after.Spec.Containers)
		}
	}
	return ""
}

// expected is what becomes of a Pod, as an API server made it without a size, and whether it is sized.
func expected(before *corev1.Pod, w v1alpha1.SizedWorkload) (corev1.PodSpec, bool) {
	spec := *before.Spec.DeepCopy()
	if spec.Resources != nil {
		return spec, false
	}
	isSized := false
	for i := range spec.Containers {
		for _, wanted := range w.Containers {
			if wanted.Name != spec.Containers[i].Name {
				continue
			}
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if setAmount(&spec.Containers[i].Resources, name, wanted, before.Status.QOSClass == corev1.PodQOSGuaranteed) {
					isSized = true
				}
			}
		}
	}
	return spec, isSized
}

// setAmount sets the request and the limit of one resource as they are expected, and reports whether there was anything to do.
func setAmount(r *corev1.ResourceRequirements, name corev1.ResourceName, wanted v1alpha1.SizedContainer, guaranteed bool) bool {
	request, hasRequest := wanted.Requests[string(name)]
	limit, hasLimit := wanted.Limits[string(name)]
	own, hasOwn := r.Requests[name]
	if hasLimit {
		limit := resource.MustParse(limit)
		if !hasRequest && own.Cmp(limit) > 0 {
			limit = own
		}
		set(&r.Limits, name, limit)
		if guaranteed || !hasRequest && !hasOwn { // an API server requests the limit where no request is
			set(&r.Requests, name, limit)
		}
	}
	if guaranteed {
		return hasLimit
	}
	if hasRequest {
		request := resource.MustParse(request)
		if limit, limited := r.Limits[name]; limited && request.Cmp(limit) > 0 {
			request = limit
		}
		set(&r.Requests, name, request)
	}
	return hasLimit || hasRequest
}

func set(list *corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = amount
}
