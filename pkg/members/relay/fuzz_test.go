// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	custominstall "k8s.io/metrics/pkg/apis/custom_metrics/install"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	"k8s.io/metrics/pkg/apis/external_metrics"
	externalinstall "k8s.io/metrics/pkg/apis/external_metrics/install"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// FuzzHostile decodes what a member may send: in time, without more memory than there is reason for, and without a panic.
func FuzzHostile(f *testing.F) {
	known := runtime.NewScheme()
	custominstall.Install(known)
	externalinstall.Install(known)
	codecs := serializer.NewCodecFactory(known)
	add := func(list runtime.Object, version schema.GroupVersion) {
		for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
			info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), contentType)
			honest, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, version), list)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(honest)
			for _, body := range memberstest.Hostile(contentType, honest) {
				f.Add(body)
			}
		}
	}
	add(&custom_metrics.MetricValueList{Items: []custom_metrics.MetricValue{object("web-0", "1"), object("web-1", memberstest.Stand)}},
		customv1beta2.SchemeGroupVersion)
	add(&external_metrics.ExternalMetricValueList{Items: []external_metrics.ExternalMetricValue{oneSeries("a", memberstest.Stand)}},
		externalv1beta1.SchemeGroupVersion)
	decoder := newDecoder()
	custom, external := customAPI(decoder), externalAPI(decoder)
	f.Fuzz(func(t *testing.T, body []byte) {
		weight, err := decoder.check(body)
		if err != nil {
			return
		}
		// Whether it is an answer at all is not the question here.
		memberstest.Weighs(t, weight, func() { _, _ = custom.decode(body, key{}) })
		memberstest.Within(t, len(body), func() { _, _ = external.decode(body, key{}) })
	})
}
