// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// FuzzHostile decodes what a member may send: in time, without more memory than there is reason for, and without a panic.
func FuzzHostile(f *testing.F) {
	stand := resource.MustParse(memberstest.Stand)
	pods := &metricsv1beta1.PodMetricsList{TypeMeta: metav1.TypeMeta{Kind: "PodMetricsList", APIVersion: "metrics.k8s.io/v1beta1"},
		Items: pods("shop", 3)}
	pods.Items[1].Containers[0].Usage["memory"] = stand
	nodes := &metricsv1beta1.NodeMetricsList{TypeMeta: metav1.TypeMeta{Kind: "NodeMetricsList", APIVersion: "metrics.k8s.io/v1beta1"},
		Items: []metricsv1beta1.NodeMetrics{{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Usage: pods.Items[1].Containers[0].Usage}}}
	for ofNodes, list := range map[bool]interface{ Marshal() ([]byte, error) }{false: pods, true: nodes} {
		text, err := json.Marshal(list)
		if err != nil {
			f.Fatal(err)
		}
		for contentType, honest := range map[string][]byte{contentTypeJSON: text, contentTypeProtobuf: protobufOf(list)} {
			f.Add(honest, contentType, ofNodes)
			for _, body := range memberstest.Hostile(contentType, honest) {
				f.Add(body, contentType, ofNodes)
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string, ofNodes bool) {
		k := key{resource: podsResource, namespace: "shop"}
		if ofNodes {
			k = key{resource: nodesResource}
		}
		var b *Batch
		var err error
		memberstest.Within(t, len(body), func() {
			if _, err = k.check(contentType)(body); err == nil {
				b, err = k.decode(body, contentType)
			}
		})
		if err != nil {
			return
		}
		for i := range b.Len() { // what is kept can be read
			for range b.At(i).Containers() {
				continue
			}
		}
	})
}
