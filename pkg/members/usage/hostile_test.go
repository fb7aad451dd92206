// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
				_, _ = connection.Decode(ctx, evil.Reading(), nil, func([]byte) (*Batch, error) { <-never; return nil, nil })
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
