// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	custominstall "k8s.io/metrics/pkg/apis/custom_metrics/install"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	"k8s.io/metrics/pkg/apis/external_metrics"
	externalinstall "k8s.io/metrics/pkg/apis/external_metrics/install"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// evilValues is a list of one value that takes forever to read.
func evilValues(t *testing.T, contentType string, list runtime.Object, version schema.GroupVersion) memberstest.Handler {
	t.Helper()
	known := runtime.NewScheme()
	custominstall.Install(known)
	externalinstall.Install(known)
	codecs := serializer.NewCodecFactory(known)
	body := []byte("kind: ExternalMetricValueList\napiVersion: external.metrics.k8s.io/v1beta1\nitems: [{metricName: queue, value: " +
		"'1234567890123'}]\n")
	if info, found := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), contentType); found &&
		contentType != runtime.ContentTypeYAML {
		var err error
		if body, err = runtime.Encode(codecs.EncoderForVersion(info.Serializer, version), list); err != nil {
			t.Fatal(err)
		}
	}
	body = bytes.ReplaceAll(body, []byte("1234567890123"), []byte("1e-2147483648"))
	return func(*http.Request) (*http.Response, error) {
		r := memberstest.Respond(http.StatusOK, runtime.ContentTypeJSON, body)
		r.Header.Set("Content-Type", contentType)
		return r, nil
	}
}

func TestValueThatTakesForEver(t *testing.T) {
	custom := &custom_metrics.MetricValueList{Items: []custom_metrics.MetricValue{object("web-0", "1")}}
	custom.Items[0].Value = resource.MustParse("1234567890123") // as long as the evil one
	external := &external_metrics.ExternalMetricValueList{Items: []external_metrics.ExternalMetricValue{oneSeries("a", "1234567890123")}}
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeYAML} {
		t.Run(contentType, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				evil, good := newFakeMember("evil"), newFakeMember("good")
				f := newFleetWith(func(*Options) {}, evil, good)
				f.run(t)
				synctest.Wait()
				begin := time.Now()
				for range 3 {
					evil.Set(func() { evil.values = evilValues(t, contentType, custom, customv1beta2.SchemeGroupVersion) })
					wantCoverage(t, f.Custom(t.Context(), podsRPS), "answered=good;silent=evil:BadAnswer")
					evil.Set(func() { evil.values = evilValues(t, contentType, external, externalv1beta1.SchemeGroupVersion) })
					wantCoverage(t, f.External(t.Context(), queue), "answered=good;silent=evil:BadAnswer")
				}
				if took := time.Since(begin); took != 0 {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// Whatever decoders do, an attempt ends at its deadline.
func TestDecodersThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		never := make(chan struct{})
		defer close(never)
		evil := newFakeMember("evil")
		f := newFleetWith(func(*Options) {}, evil, newFakeMember("good"))
		f.run(t)
		synctest.Wait()
		for range 100 { // more than are decoded at once
			go func() {
				_, _ = connection.Decode(ctx, evil.Reading(), nil, weightless, func([]byte) (int, error) { <-never; return 0, nil })
			}()
		}
		synctest.Wait()
		begin := time.Now()
		wantCoverage(t, f.External(t.Context(), queue), "answered=good;silent=evil:BadAnswer")
		if took := time.Since(begin); took != timeout {
			t.Errorf("it took %v, want %v", took, timeout)
		}
	})
}

func TestAnswerOverWhichWePanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evil, good := newFakeMember("evil"), newFakeMember("good")
		f := newFleetWith(func(*Options) {}, evil, good)
		f.run(t)
		synctest.Wait()
		evil.Set(func() { evil.series = append(evil.series, oneSeries("evil", "1")) })
		decode := f.external.api.decode
		f.external.api.decode = func(body []byte, k key) (answered[external_metrics.ExternalMetricValue], error) {
			if bytes.Contains(body, []byte("evil")) {
				panic("over what it says")
			}
			return decode(body, k)
		}
		wantCoverage(t, f.External(t.Context(), queue), "answered=good;silent=evil:BadAnswer")
	})
}

func TestValuesThatNobodyAskedFor(t *testing.T) {
	of := func(kind, namespace, name string) custom_metrics.MetricValue {
		return custom_metrics.MetricValue{DescribedObject: custom_metrics.ObjectReference{Kind: kind, Namespace: namespace, Name: name}}
	}
	all := []custom_metrics.MetricValue{
		of("Pod", "shop", "a"), of("Pod", "shop", "a"), of("Pod", "bank", "a"), of("Pod", "", "b"), of("Pod", "shop", ""),
		of("Namespace", "", "shop"), of("Namespace", "shop", "shop"), of("Namespace", "bank", "shop"), of("Node", "", "a"),
	}
	tests := map[string]struct {
		subject Subject
		want    []string
	}{
		"all of a namespace": {Subject{"shop", "pods", "*"}, []string{"Pod shop/a", "Pod /b", "Namespace /shop", "Namespace shop/shop",
			"Node /a"}},
		"one by name":         {Subject{"shop", "pods", "a"}, []string{"Pod shop/a", "Pod shop/a", "Node /a"}},
		"one of no namespace": {Subject{"", "nodes", "a"}, []string{"Node /a"}},
		"all of no namespace": {Subject{"", "nodes", "*"}, []string{"Pod /b", "Namespace /shop", "Node /a"}},
		"a namespace itself":  {Subject{namespace: "shop"}, []string{"Namespace /shop", "Namespace shop/shop"}},
		"namespaces":          {Subject{namespace: "*"}, []string{"Pod /b", "Namespace /shop", "Namespace shop/shop", "Node /a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.subject.asked(slices.Clone(all))
			var kept []string
			for _, v := range got.values {
				o := v.DescribedObject
				kept = append(kept, o.Kind+" "+o.Namespace+"/"+o.Name)
			}
			fleettest.Same(t, "kept", tc.want, kept)
			if got.dropped != len(all)-len(tc.want) {
				t.Errorf("%d were dropped, want %d", got.dropped, len(all)-len(tc.want))
			}
		})
	}
}

func TestValuesThatNobodyAskedForAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, reg := newFakeMember("east"), prometheus.NewRegistry()
		east.Counted(reg)
		east.objects = append(east.objects, object("web-0", "6"), object("web-1", "7"))
		east.objects[2].DescribedObject.Namespace = "bank"
		f := startFleet(t, east)
		fleettest.Same(t, "values", []string{"east/web-0=5"}, objectsIn(f.Custom(t.Context(), podsRPS)))
		if n := memberstest.Dropped(t, reg, "custom"); n != 2 {
			t.Errorf("%v count as dropped, want 2", n)
		}
	})
}

func weightless([]byte) (int64, error) { return 0, nil }
