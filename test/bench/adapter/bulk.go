// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// bulk is a fleet of so many Pods in each of so many namespaces of each member. To simulate each Pod of millions takes more memory and time
// than to know them, so that all members answer with one list, in which only their number differs.
type bulk struct {
	members, namespaces, pods int
	// period is that of scrapes, in each of which all Pods are read: that takes some 9 µs of CPU for each.
	period time.Duration
}

func (b bulk) all() int { return b.members * b.namespaces * b.pods }

// perNamespace is in all members.
func (b bulk) perNamespace() int { return b.members * b.pods }

func (b bulk) namespace(i int) string { return fmt.Sprintf("bulk-%03d", i) }

// placeholder is where the number of the member is in a list, as long as that.
const placeholder = "####"

// bulkAnswers are what is measured in the members of a bulk, with other times in each period.
type bulkAnswers struct {
	bulk
	encoder runtime.Encoder

	mu    sync.Mutex
	at    time.Time
	lists map[string][]byte // by namespace; empty: of all
}

func newBulkAnswers(b bulk) (*bulkAnswers, error) {
	scheme := runtime.NewScheme()
	if err := metricsv1beta1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	codecs := serializer.NewCodecFactory(scheme)
	info, known := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), stage.Protobuf)
	if !known {
		return nil, fmt.Errorf("writing PodMetrics: nothing encodes %s", stage.Protobuf)
	}
	return &bulkAnswers{bulk: b, encoder: codecs.EncoderForVersion(info.Serializer, metricsv1beta1.SchemeGroupVersion)}, nil
}

// of serves metrics.k8s.io for the member of that number.
func (a *bulkAnswers) of(member int) http.Handler {
	number := fmt.Appendf(nil, "%0*d", len(placeholder), member)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, path, _ := strings.Cut(r.URL.Path, "/v1beta1/")
		namespace, isOne := strings.CutPrefix(strings.TrimSuffix(path, "/pods"), "namespaces/")
		if !isOne && path != "pods" || !strings.Contains(r.Header.Get("Accept"), stage.Protobuf) {
			http.NotFound(w, r)
			return
		}
		if !isOne {
			namespace = ""
		}
		list, err := a.list(namespace)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", stage.Protobuf)
		_, _ = w.Write(bytes.ReplaceAll(list, []byte(placeholder), number))
	})
}

func (a *bulkAnswers) list(namespace string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at := time.Now().Truncate(a.period); !at.Equal(a.at) {
		a.at, a.lists = at, map[string][]byte{}
	}
	if list := a.lists[namespace]; list != nil {
		return list, nil
	}
	body, err := runtime.Encode(a.encoder, a.measured(namespace))
	if err == nil {
		a.lists[namespace] = body
	}
	return body, err
}

func (a *bulkAnswers) measured(namespace string) *metricsv1beta1.PodMetricsList {
	list := &metricsv1beta1.PodMetricsList{}
	for n := range a.namespaces {
		if namespace != "" && namespace != a.namespace(n) {
			continue
		}
		for pod := range a.pods {
			list.Items = append(list.Items, metricsv1beta1.PodMetrics{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: a.namespace(n), Name: fmt.Sprintf("web-6f7d9c%s-x%04d", placeholder, pod),
					Labels: map[string]string{"app": "web", "pod-template-hash": "6f7d9c" + placeholder},
				},
				Timestamp: metav1.NewTime(a.at), Window: metav1.Duration{Duration: 15 * time.Second},
				Containers: []metricsv1beta1.ContainerMetrics{{Name: "web", Usage: corev1.ResourceList{
					corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(100+(n*7+pod*13)%400), resource.DecimalSI),
					corev1.ResourceMemory: *resource.NewQuantity(int64(64+(n*11+pod*5)%128)<<20, resource.BinarySI),
				}}},
			})
		}
	}
	return list
}
