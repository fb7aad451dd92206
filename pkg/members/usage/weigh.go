// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"reflect"

	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// check weighs an answer before it is decoded: it returns what that takes at one time at most, in bytes, or why
// the answer must not be decoded.
func (k key) check(contentType string) connection.Check {
	return func(body []byte) (int64, error) {
		raw, isProtobuf, err := content(body, contentType)
		if err != nil {
			return 0, err
		}
		if isProtobuf && k.resource == podsResource {
			return weighPods(raw)
		}
		like := connection.TypeOf(&metricsv1beta1.PodMetricsList{})
		if k.resource == nodesResource {
			like = connection.TypeOf(&metricsv1beta1.NodeMetricsList{})
		}
		weight := like.JSON
		if isProtobuf {
			weight = like.Protobuf
		}
		bytes, err := weight(raw)
		return bytes + bytes/2, err // the objects, and what is kept of them
	}
}

// keptAs is how much less than a decoded object what is kept of its numbers takes, at least.
const keptAs = 8

// weighPods is for what is decoded item by item: the objects of one are there at a time, beside what is kept of those before it.
func weighPods(raw []byte) (kept int64, err error) {
	like, most := connection.TypeOf(&metricsv1beta1.PodMetrics{}), int64(0)
	err = eachItem(raw, func(item []byte) error {
		bytes, err := like.Protobuf(item)
		most = max(most, bytes)
		kept += int64(reflect.TypeFor[record]().Size()) + 2*(uniqueBytes+int64(len(item))) + bytes/keptAs
		return err
	})
	return kept + 2*most, err
}
