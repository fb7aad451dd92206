// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/metrics"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// evilPods is a list with a memory that takes forever to read.
func evilPods(t *testing.T, contentType string) []byte {
	t.Helper()
	stand := resource.MustParse("1234567890123") // as long as the evil one
	p := pod("shop", "evil", map[string]string{"app": "web"})
	p.Containers[1].Usage[corev1.ResourceMemory] = stand
	list := &metricsv1beta1.PodMetricsList{Items: append(pods("shop", 3), p)}
	body := protobufOf(list)
	if contentType == contentTypeJSON {
		list.TypeMeta = metav1.TypeMeta{Kind: "PodMetricsList", APIVersion: "metrics.k8s.io/v1beta1"}
		var err error
		if body, err = json.Marshal(list); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.ReplaceAll(body, []byte(stand.String()), []byte("1e-2147483648"))
}

// One member that sends it is silent, at once and each time; it costs the others nothing.
func TestQuantityThatTakesForEver(t *testing.T) {
	for _, contentType := range []string{contentTypeJSON, contentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := evilPods(t, contentType)
				evil, good := newFakeMember("evil"), newFakeMember("good", pods("shop", 1)...)
				evil.Handle = func(*http.Request) (*http.Response, error) {
					return memberstest.Respond(http.StatusOK, contentType, body), nil
				}
				s := startStore(t, evil, good)
				synctest.Wait()
				for i := range 3 {
					begin := time.Now()
					a := s.Pods(t.Context(), inNamespace("shop"))
					if took := time.Since(begin); took != 0 {
						t.Errorf("answer %d took %v", i, took)
					}
					wantBadAnswer(t, a.Silent["evil"])
					fleettest.Same(t, "pods", []string{"good/shop/web-0"}, names(a))
					pass(resolution)
				}
				a := s.Pods(t.Context(), inNamespace(""))
				wantBadAnswer(t, a.Silent["evil"])
			})
		})
	}
}

func wantBadAnswer(t *testing.T, silence *fleet.Silence) {
	t.Helper()
	if silence == nil || silence.Reason != fleet.ReasonBadAnswer {
		t.Errorf("silence %v, want BadAnswer", silence)
	}
}

// Whatever decoders do, an attempt ends at its deadline, and the answers after the first come from memory.
func TestDecodersThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		never := make(chan struct{})
		defer close(never)
		evil := newFakeMember("evil", pods("shop", 1)...)
		s := startStore(t, evil, newFakeMember("good", pods("shop", 1)...))
		synctest.Wait()
		for range 100 { // more than are decoded at once
			go func() {
				_, _ = connection.Decode(ctx, evil.Reading(), nil, weightless, func([]byte) (*Batch, error) { <-never; return nil, nil })
			}()
		}
		synctest.Wait()
		for _, want := range []time.Duration{5 * time.Second, 0, 0} {
			begin := time.Now()
			a := s.Pods(t.Context(), inNamespace("shop"))
			if took := time.Since(begin); took != want {
				t.Errorf("an answer took %v, want %v", took, want)
			}
			wantBadAnswer(t, a.Silent["evil"])
			fleettest.Same(t, "pods", []string{"good/shop/web-0"}, names(a))
			pass(resolution)
		}
	})
}

// What a member was not asked for is not kept, and what it sends twice is kept once.
func TestItemsThatNobodyAskedFor(t *testing.T) {
	named := func(namespace string, names ...string) (all []metricsv1beta1.PodMetrics) {
		for i, name := range names {
			p := pod(namespace, name, map[string]string{"app": "web"})
			p.Window.Duration = time.Duration(i+1) * time.Second // which one it is
			all = append(all, p)
		}
		return all
	}
	unlabelled := named("shop", "plain")
	unlabelled[0].Labels = nil
	ofShop := key{resource: podsResource, namespace: "shop"}
	tests := map[string]struct {
		k       key
		items   []metricsv1beta1.PodMetrics
		want    []string
		dropped int
	}{
		"all as it should be":     {ofShop, named("shop", "a", "b"), []string{"shop/a 1s", "shop/b 2s"}, 0},
		"another namespace":       {ofShop, append(named("bank", "a"), named("shop", "a")...), []string{"shop/a 1s"}, 1},
		"a namespace that begins": {ofShop, named("shop-2", "a"), nil, 1},
		"none":                    {ofShop, named("", "a"), nil, 1},
		"without a name":          {ofShop, named("shop", "", "b"), []string{"shop/b 2s"}, 1},
		"a name again and again":  {ofShop, named("shop", "a", "b", "a", "a"), []string{"shop/a 1s", "shop/b 2s"}, 2},
		"of all, all":             {allPods, append(named("shop", "a"), named("bank", "a")...), []string{"bank/a 1s", "shop/a 1s"}, 0},
		"of all, none":            {allPods, named("", "a"), nil, 1},
		"of all, one twice":       {allPods, append(named("shop", "a"), named("shop", "a")...), []string{"shop/a 1s"}, 1},
		"labels that do not match": {key{podsResource, "shop", "app=db"}, append(named("shop", "a"), unlabelled...), []string{"shop/plain 1s"},
			1},
		"labels that do": {key{podsResource, "shop", "app=web"}, named("shop", "a"), []string{"shop/a 1s"}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			asJSON, err := json.Marshal(&metricsv1beta1.PodMetricsList{Items: tc.items})
			if err != nil {
				t.Fatal(err)
			}
			for contentType, body := range map[string][]byte{
				contentTypeProtobuf: protobufOf(&metricsv1beta1.PodMetricsList{Items: tc.items}), contentTypeJSON: asJSON,
			} {
				b, err := tc.k.decode(body, contentType)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for i := range b.Len() {
					s := b.At(i)
					got = append(got, s.Namespace()+"/"+s.Name()+" "+s.Window().String())
					var m metrics.PodMetrics
					s.Pod(&m, 0)
					if len(m.Containers) != 2 || m.Containers[1].Usage.Cpu().String() != "10m" {
						t.Errorf("%s: containers %v", contentType, m.Containers)
					}
				}
				fleettest.Same(t, contentType, tc.want, got)
				if b.dropped != tc.dropped {
					t.Errorf("%s: %d were dropped, want %d", contentType, b.dropped, tc.dropped)
				}
			}
		})
	}
	nodes := &metricsv1beta1.NodeMetricsList{Items: make([]metricsv1beta1.NodeMetrics, 4)}
	for i, meta := range []metav1.ObjectMeta{{Name: "a"}, {Name: "a"}, {Namespace: "shop", Name: "b"}, {}} {
		nodes.Items[i].ObjectMeta = meta
	}
	if b, err := allNodes.decode(protobufOf(nodes), contentTypeProtobuf); err != nil || b.Len() != 1 || b.dropped != 3 {
		t.Errorf("nodes: %d kept and %d dropped, %v; want one and three", b.Len(), b.dropped, err)
	}
}

// A member that has Pods of its own in an answer about shop changes nothing that is said of bank.
func TestItemsOfAnotherNamespaceStayOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evil := newFakeMember("evil", pods("bank", 1)...)
		evil.Handle = func(r *http.Request) (*http.Response, error) {
			if !strings.Contains(r.URL.Path, "/namespaces/shop/") {
				return nil, nil
			}
			list := &metricsv1beta1.PodMetricsList{Items: append(pods("bank", 3), pods("shop", 1)...)}
			return memberstest.Respond(http.StatusOK, contentTypeProtobuf, protobufOf(list)), nil
		}
		reg := prometheus.NewRegistry()
		evil.Counted(reg)
		s := startStore(t, evil)
		synctest.Wait()
		fleettest.Same(t, "shop", []string{"evil/shop/web-0"}, names(s.Pods(t.Context(), inNamespace("shop"))))
		fleettest.Same(t, "bank", []string{"evil/bank/web-0"}, names(s.Pods(t.Context(), inNamespace("bank"))))
		if n := memberstest.Dropped(t, reg, "pods"); n != 3 {
			t.Errorf("%v Pods count as dropped, want 3", n)
		}
	})
}

func weightless([]byte) (int64, error) { return 0, nil }
