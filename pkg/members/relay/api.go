// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	custominstall "k8s.io/metrics/pkg/apis/custom_metrics/install"
	"k8s.io/metrics/pkg/apis/external_metrics"
	externalinstall "k8s.io/metrics/pkg/apis/external_metrics/install"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/merge"
)

const (
	customGroup   = custom_metrics.GroupName
	externalGroup = external_metrics.GroupName
)

// api is what sets the two APIs apart. T is one of its values.
type api[T any] struct {
	name     string // in logs and metrics
	group    string
	versions []string // preferred first
	// seen is what of an answer is wanted once the member is silent; nil where nothing is.
	seen func([]T) merge.Seen
	// same is true for values that are equal, of series that are; needed where seen is.
	same func(a, b []T) bool
	// size is what a value takes in memory.
	size    func(*T) int64
	request func(*rest.Request, string, key) *rest.Request
	check   connection.Check
	// decode reads an answer to k. Where it is an error that holds no silence, the member has none.
	decode func(body []byte, k key) (answered[T], error)
	// listed reads an entry of the member's discovery; false for one that is no metric.
	listed func(metav1.APIResource) (provider.CustomMetricInfo, bool)
}

// absent is a member's answer that it has no such thing.
func (a *api[T]) absent() error {
	return apierrors.NewNotFound(schema.GroupResource{Group: a.group}, "")
}

func customAPI(decoder decoder) *api[custom_metrics.MetricValue] {
	a := &api[custom_metrics.MetricValue]{
		name: "custom", group: customGroup, versions: []string{"v1beta2", "v1beta1"},
		size: customSize, request: customRequest, check: decoder.check, listed: customListed,
	}
	a.decode = func(body []byte, k key) (answered[custom_metrics.MetricValue], error) {
		list, err := decode[*custom_metrics.MetricValueList](decoder, body)
		if err != nil {
			return answered[custom_metrics.MetricValue]{}, err
		}
		got := k.subject.asked(list.Items)
		if !k.subject.several() {
			got.values, err = one(got, a.absent())
		}
		return got, err
	}
	return a
}

// answered is what an answer holds of what was asked for.
type answered[T any] struct {
	values  []T
	dropped int // what was not asked for, or came twice
}

// one is the answer about one object; clients of these APIs take no other.
func one(got answered[custom_metrics.MetricValue], absent error) ([]custom_metrics.MetricValue, error) {
	switch n := len(got.values); {
	case n == 1:
		return got.values, nil
	case n > 1:
		return nil, badAnswer(fmt.Errorf("%d values of one object", n))
	case got.dropped > 0: // it does not say that there is none
		return nil, badAnswer(errors.New("it is about another object"))
	default:
		return nil, absent
	}
}

// customListed reads "pods/rps" and "deployments.apps/rps".
func customListed(r metav1.APIResource) (provider.CustomMetricInfo, bool) {
	resource, metric, found := strings.Cut(r.Name, "/")
	info := provider.CustomMetricInfo{GroupResource: schema.ParseGroupResource(resource), Namespaced: r.Namespaced, Metric: metric}
	return info, found && resource != "" && metric != ""
}

func externalAPI(decoder decoder) *api[external_metrics.ExternalMetricValue] {
	return &api[external_metrics.ExternalMetricValue]{
		name: "external", group: externalGroup, versions: []string{"v1beta1"},
		seen: merge.SeenIn, same: sameValues, size: externalSize, request: externalRequest, check: decoder.check,
		// Series have neither namespace nor name, and adapters leave out labels by which they are selected.
		decode: func(body []byte, _ key) (answered[external_metrics.ExternalMetricValue], error) {
			list, err := decode[*external_metrics.ExternalMetricValueList](decoder, body)
			if err != nil {
				return answered[external_metrics.ExternalMetricValue]{}, err
			}
			return answered[external_metrics.ExternalMetricValue]{values: list.Items}, nil
		},
		listed: func(r metav1.APIResource) (provider.CustomMetricInfo, bool) {
			return provider.CustomMetricInfo{Metric: r.Name}, r.Name != ""
		},
	}
}

// decoder reads every version of both APIs, in protobuf and in JSON.
type decoder struct {
	runtime.Decoder

	guard *guard.Scheme
}

// check weighs an answer: what it is decoded to, and what that is converted to, which takes no more.
func (d decoder) check(body []byte) (int64, error) {
	bytes, err := d.guard.Check(body, nil, nil)
	return 2 * bytes, err
}

func newDecoder() decoder {
	scheme := runtime.NewScheme()
	custominstall.Install(scheme)
	externalinstall.Install(scheme)
	made := serializer.NewCodecFactory(scheme).UniversalDecoder(custom_metrics.SchemeGroupVersion, external_metrics.SchemeGroupVersion)
	return decoder{made, guard.SchemeOf(scheme)}
}

func decode[L runtime.Object](decoder runtime.Decoder, body []byte) (list L, err error) {
	object, kind, err := decoder.Decode(body, nil, nil)
	if err != nil {
		return list, badAnswer(err)
	}
	list, ok := object.(L)
	if !ok {
		return list, badAnswer(fmt.Errorf("it is a %s", kind.Kind))
	}
	return list, nil
}

// badAnswer: what cannot be read is no answer.
func badAnswer(err error) error { return connection.BadAnswer("reading the answer", err) }
