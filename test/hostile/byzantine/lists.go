// SPDX-License-Identifier: Apache-2.0

package byzantine

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// known are the lists that lies are told in.
var known = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, metricsv1beta1.AddToScheme, customv1beta2.AddToScheme, externalv1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // the libraries' types do not fit each other
		}
	}
	return scheme
}()

// list is one with that many items, whose quantities are memberstest.Stand, of the kind that the question is about;
// nil where lies are told of nothing.
func (q question) list(items int, name func(int) string) (runtime.Object, schema.GroupVersion) {
	stand := resource.MustParse(memberstest.Stand)
	meta := func(i int) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: q.info.Namespace, Name: name(i), Labels: map[string]string{"app": "web"}}
	}
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	usage := corev1.ResourceList{corev1.ResourceCPU: stand, corev1.ResourceMemory: stand}
	switch what := q.info.APIGroup + "/" + q.info.Resource; {
	case what == "metrics.k8s.io/pods":
		list := &metricsv1beta1.PodMetricsList{}
		for i := range items {
			list.Items = append(list.Items, metricsv1beta1.PodMetrics{ObjectMeta: meta(i), Timestamp: now,
				Containers: []metricsv1beta1.ContainerMetrics{{Name: "app", Usage: usage}}})
		}
		return list, metricsv1beta1.SchemeGroupVersion
	case what == "metrics.k8s.io/nodes":
		list := &metricsv1beta1.NodeMetricsList{}
		for i := range items {
			list.Items = append(list.Items, metricsv1beta1.NodeMetrics{ObjectMeta: meta(i), Timestamp: now, Usage: usage})
		}
		return list, metricsv1beta1.SchemeGroupVersion
	case what == "/pods":
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
		for i := range items {
			list.Items = append(list.Items, corev1.Pod{ObjectMeta: meta(i), Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: usage}}}}})
		}
		return list, corev1.SchemeGroupVersion
	case q.info.APIGroup == "custom.metrics.k8s.io":
		list := &customv1beta2.MetricValueList{}
		for i := range items {
			list.Items = append(list.Items, customv1beta2.MetricValue{
				DescribedObject: corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: q.info.Namespace, Name: name(i)},
				Metric:          customv1beta2.MetricIdentifier{Name: q.info.Subresource}, Timestamp: now, Value: stand})
		}
		return list, customv1beta2.SchemeGroupVersion
	case q.info.APIGroup == "external.metrics.k8s.io":
		list := &externalv1beta1.ExternalMetricValueList{}
		for i := range items {
			list.Items = append(list.Items, externalv1beta1.ExternalMetricValue{MetricName: q.info.Resource, Timestamp: now, Value: stand,
				MetricLabels: map[string]string{"name": name(i)}})
		}
		return list, externalv1beta1.SchemeGroupVersion
	}
	return nil, schema.GroupVersion{}
}

func numbered(i int) string { return fmt.Sprintf("web-%d", i) }

// encoded is a list in the first form that is accepted. ok is false where lies are told of nothing.
func (q question) encoded(items int, name func(int) string) (body []byte, media string, ok bool) {
	media = runtime.ContentTypeJSON
	if strings.HasPrefix(q.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		media = runtime.ContentTypeProtobuf
	}
	body, ok = q.encodedAs(media, items, name)
	return body, media, ok
}

func (q question) encodedAs(media string, items int, name func(int) string) (body []byte, ok bool) {
	list, version := q.list(items, name)
	if list == nil || q.info.Verb == "watch" {
		return nil, false
	}
	codecs := serializer.NewCodecFactory(known)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media)
	body, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, version), list)
	if err != nil {
		panic(err) // these lists can all be encoded
	}
	return body, true
}

// say answers with bytes of a type.
func say(w http.ResponseWriter, media string, body []byte) {
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(body) // the client may have gone
}

// folded compresses what has to be written again and again.
func folded(write func(io.Writer)) []byte {
	var body bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&body, gzip.BestSpeed)
	write(zip)
	_ = zip.Close() // a buffer takes all
	return body.Bytes()
}

// sayFolded answers with what folded returned. Some clients want no compression; they get it all the same.
func sayFolded(w http.ResponseWriter, media string, body []byte) {
	w.Header().Set("Content-Encoding", "gzip")
	say(w, media, body)
}
