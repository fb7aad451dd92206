// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// measuring is when a member measures: once per resolution, at an offset that is its own.
type measuring struct {
	resolution, offset time.Duration
}

// last is the number of the last measurement, and when it was.
func (m measuring) last(now time.Time) (number int64, at time.Time) {
	number = (now.UnixNano() - int64(m.offset)) / int64(m.resolution)
	return number, time.Unix(0, number*int64(m.resolution)+int64(m.offset))
}

// usage serves metrics.k8s.io. An answer stays the same from one measurement to
// the next, and is encoded once: a simulation must not cost more than what it is for.
type usage struct {
	world *world
	measuring

	mu       sync.Mutex
	of       measured
	encoding map[encodingKey]*encoding
}

// measured is what an answer depends on, besides the question.
type measured struct {
	number, revision int64
}

type encodingKey struct {
	resource, namespace, name, selector string
	format                              format
}

type encoding struct {
	once sync.Once
	body []byte
	err  error
}

func newUsage(w *world, m measuring) *usage {
	return &usage{world: w, measuring: m, encoding: map[encodingKey]*encoding{}}
}

// encoded is an answer, made by whoever asks first.
func (u *usage) encoded(now measured, k encodingKey, encode func() ([]byte, error)) ([]byte, error) {
	u.mu.Lock()
	if u.of != now {
		u.of = now
		clear(u.encoding)
	}
	e := u.encoding[k]
	if e == nil {
		e = &encoding{}
		u.encoding[k] = e
	}
	u.mu.Unlock()
	e.once.Do(func() { e.body, e.err = encode() })
	return e.body, e.err
}

func (m *Member) serveUsage(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	if info.APIVersion != "v1beta1" || info.Resource != "pods" && info.Resource != "nodes" || info.Verb != "get" && info.Verb != "list" {
		http.NotFound(w, r)
		return
	}
	q, refused := questionOf(r, info)
	if refused != nil {
		refuse(w, r, refused)
		return
	}
	f, _ := formatOf(r.Header.Get("Accept"))
	number, at := m.usage.last(time.Now())
	m.world.mu.RLock()
	now := measured{number, m.world.measured}
	m.world.mu.RUnlock()
	k := encodingKey{info.Resource, info.Namespace, info.Name, q.labels.String() + "?" + q.fields.String(), f}
	body, err := m.usage.encoded(now, k, func() ([]byte, error) {
		o, err := m.usage.answer(info, q, moment{number, at, m.usage.resolution})
		if err != nil {
			return nil, err
		}
		return f.encode(m.codecs, o, metricsv1beta1.SchemeGroupVersion)
	})
	if err != nil {
		refuse(w, r, apierrors.NewNotFound(schema.GroupResource{Group: metricsGroup, Resource: info.Resource}, info.Name))
		return
	}
	send(w, r, http.StatusOK, f.media, body)
}

func (u *usage) answer(info *request.RequestInfo, q question, at moment) (runtime.Object, error) {
	u.world.mu.RLock()
	defer u.world.mu.RUnlock()
	pods, nodes := &metricsv1beta1.PodMetricsList{}, &metricsv1beta1.NodeMetricsList{}
	for e := range u.world.shelves[info.Resource].after(q.namespace, key{}) {
		if !q.matches(e) {
			continue
		}
		if p, ok := e.(*pod); ok {
			pods.Items = append(pods.Items, at.pod(p))
		} else {
			nodes.Items = append(nodes.Items, at.node(e))
		}
	}
	all := len(pods.Items) + len(nodes.Items)
	switch {
	case info.Name != "" && all == 0:
		return nil, fmt.Errorf("no %s of that name", info.Resource)
	case info.Resource == "nodes" && info.Name != "":
		return &nodes.Items[0], nil
	case info.Resource == "nodes":
		return nodes, nil
	case info.Name != "":
		return &pods.Items[0], nil
	default:
		return pods, nil
	}
}

// moment is that of a measurement.
type moment struct {
	number int64
	at     time.Time
	window time.Duration
}

// pod returns what a Pod used: what its workload is said to use, give or take a tenth.
func (m moment) pod(p *pod) metricsv1beta1.PodMetrics {
	metrics := metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.of.Namespace, Name: p.name, Labels: p.labels(), CreationTimestamp: seconds(m.at)},
		Timestamp:  seconds(m.at), Window: metav1.Duration{Duration: m.window},
		Containers: make([]metricsv1beta1.ContainerMetrics, p.of.Containers),
	}
	for i := range metrics.Containers {
		chance := mixed(uint64(p.ordinal)<<8+uint64(i), uint64(m.number))
		metrics.Containers[i] = metricsv1beta1.ContainerMetrics{Name: containerName(i), Usage: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewScaledQuantity(about(p.of.Usage.CPU.ScaledValue(resource.Nano), chance), resource.Nano),
			corev1.ResourceMemory: *resource.NewQuantity(about(p.of.Usage.Memory.Value()>>10, chance>>32)<<10, resource.BinarySI),
		}}
	}
	return metrics
}

func (m moment) node(e entry) metricsv1beta1.NodeMetrics {
	return metricsv1beta1.NodeMetrics{
		ObjectMeta: metav1.ObjectMeta{Name: e.key().name, Labels: e.labels(), CreationTimestamp: seconds(m.at)},
		Timestamp:  seconds(m.at), Window: metav1.Duration{Duration: m.window},
		Usage: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")},
	}
}

// about is value, give or take a tenth of it.
func about(value int64, chance uint64) int64 {
	return value - value/10 + int64(chance%uint64(value/5+1))
}

// mixed is a number without pattern, the same for the same arguments.
func mixed(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b*0xbf58476d1ce4e5b9
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
