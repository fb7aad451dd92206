// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// fakeMember answers for one cluster, without a network.
type fakeMember struct {
	*memberstest.Member

	pods     []metricsv1beta1.PodMetrics
	measured time.Duration // the resolution: timestamps change this often; 0: never
	started  time.Time
}

var _ Source = (*fakeMember)(nil)

func newFakeMember(name string, pods ...metricsv1beta1.PodMetrics) *fakeMember {
	m := &fakeMember{pods: pods, measured: resolution, started: time.Now()}
	m.Member = memberstest.New(name, m.list)
	return m
}

// queries are the requests so far.
func (m *fakeMember) queries() []string { return m.Asked((*url.URL).RequestURI) }

func (m *fakeMember) asks() int64 { return int64(len(m.queries())) }

func (m *fakeMember) list(r *http.Request) (*http.Response, error) {
	m.Lock()
	defer m.Unlock()
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return memberstest.Respond(http.StatusBadRequest, "", []byte(err.Error())), nil
	}
	if strings.HasSuffix(r.URL.Path, "/nodes") {
		list := &metricsv1beta1.NodeMetricsList{Items: []metricsv1beta1.NodeMetrics{{
			ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"kubernetes.io/os": "linux"}},
			Timestamp:  m.timestamp(), Window: metav1.Duration{Duration: resolution},
			Usage: corev1.ResourceList{"cpu": resource.MustParse("750m")},
		}}}
		return memberstest.Respond(http.StatusOK, contentTypeProtobuf, protobufOf(list)), nil
	}
	list := &metricsv1beta1.PodMetricsList{}
	for _, p := range m.pods {
		if strings.Contains(r.URL.Path, "/namespaces/"+p.Namespace+"/") || !strings.Contains(r.URL.Path, "/namespaces/") {
			if selector.Matches(labels.Set(p.Labels)) || p.Labels == nil {
				p.Timestamp = m.timestamp()
				list.Items = append(list.Items, p)
			}
		}
	}
	return memberstest.Respond(http.StatusOK, contentTypeProtobuf, protobufOf(list)), nil
}

func (m *fakeMember) timestamp() metav1.Time {
	if m.measured == 0 {
		return metav1.NewTime(m.started)
	}
	return metav1.NewTime(time.Now().Truncate(m.measured))
}

func refuse(code int) memberstest.Handler {
	return memberstest.Saying(code, "text/plain", http.StatusText(code))
}

func protobufOf(list interface{ Marshal() ([]byte, error) }) []byte {
	return memberstest.Protobuf(runtime.TypeMeta{}, list)
}

// enveloped is an encoded object as it is sent.
func enveloped(raw []byte) []byte { return memberstest.Envelope(runtime.Unknown{Raw: raw}) }

// pod is one with two containers.
func pod(namespace, name string, set map[string]string) metricsv1beta1.PodMetrics {
	use := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
	return metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: set},
		Timestamp:  metav1.NewTime(time.Unix(1_700_000_000, 0)),
		Window:     metav1.Duration{Duration: resolution},
		Containers: []metricsv1beta1.ContainerMetrics{
			{Name: "app", Usage: use("123456789n", "65536Ki")}, {Name: "sidecar", Usage: use("10m", "12Mi")},
		},
	}
}

func pods(namespace string, n int) []metricsv1beta1.PodMetrics {
	list := make([]metricsv1beta1.PodMetrics, n)
	for i := range list {
		list[i] = pod(namespace, fmt.Sprintf("web-%d", i), map[string]string{"app": "web"})
	}
	return list
}

// fleetOf is a running store over members that a test may exchange.
type fleetOf struct {
	*Store
	mu       sync.Mutex
	members  []Source
	registry *prometheus.Registry
}

func (f *fleetOf) setMembers(members ...Source) {
	f.mu.Lock()
	f.members = members
	f.mu.Unlock()
	f.MembersChanged()
}

func startStore(t *testing.T, members ...Source) *fleetOf {
	t.Helper()
	return startStoreOf(t, 8, members...)
}

func startStoreOf(t *testing.T, maxHot int, members ...Source) *fleetOf {
	t.Helper()
	return startStoreIn(t, 1<<30, maxHot, members...)
}

// startStoreIn has so many bytes for what it keeps.
func startStoreIn(t *testing.T, maxBytes int64, maxHot int, members ...Source) *fleetOf {
	t.Helper()
	return startScoped(t, tenancy.Scope{}, maxBytes, maxHot, members...)
}

// startScoped is startStoreIn for namespaces in scope.
func startScoped(t *testing.T, scope tenancy.Scope, maxBytes int64, maxHot int, members ...Source) *fleetOf {
	t.Helper()
	f := &fleetOf{members: members, registry: prometheus.NewRegistry()}
	f.Store = New(Options{
		Scope: scope,
		Members: func() []Source {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.members
		},
		Period: resolution, MaxAge: time.Minute, IdleAfter: 5 * time.Minute, Timeout: 5 * time.Second,
		MaxHot: maxHot, Memory: memory.New(maxBytes, memory.NewMetrics(prometheus.NewRegistry())), Metrics: NewMetrics(f.registry),
	})
	memberstest.Run(t.Context(), t, func(ctx context.Context) error {
		f.Run(ctx)
		return nil
	})
	return f
}

func everywhere(string) bool { return true }

func inNamespace(namespace string) Question {
	return Question{Namespace: namespace, Selector: labels.Everything(), Clusters: everywhere}
}

// names are "cluster/namespace/name" of all that an answer holds.
func names(a fleet.Answer[Selection]) []string {
	var out []string
	for _, cluster := range a.Coverage().Answered {
		s := a.Values[cluster]
		for i := range s.Len() {
			out = append(out, cluster+"/"+s.At(i).Namespace()+"/"+s.At(i).Name())
		}
	}
	return out
}
