// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/wire"
)

// A podList decodes a PodMetricsList. In protobuf it takes one item after the
// other: as Go objects, a member's list of ten thousand pods takes twenty times
// the memory of the list itself, and there may be several at once.
type podList struct {
	batchBuilder

	containers []container // of the item at hand; kept for the next
}

// Unmarshal is for protobuf.
func (l *podList) Unmarshal(raw []byte) error {
	l.grow(countItems(raw))
	var item metricsv1beta1.PodMetrics
	return eachItem(raw, func(encoded []byte) error {
		item.Reset()
		if err := item.Unmarshal(encoded); err != nil {
			return err
		}
		l.take(&item)
		return nil
	})
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *podList) UnmarshalJSON(raw []byte) error {
	var list metricsv1beta1.PodMetricsList
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	l.grow(len(list.Items))
	for i := range list.Items {
		l.take(&list.Items[i])
	}
	return nil
}

func (l *podList) take(item *metricsv1beta1.PodMetrics) {
	l.containers = l.containers[:0]
	for _, c := range item.Containers {
		l.containers = append(l.containers, container{c.Name, c.Usage})
	}
	l.add(&item.ObjectMeta, item.Timestamp, item.Window, l.containers)
}

// Numbers of fields: that of what is in an envelope, and that of the items of a Kubernetes list.
const (
	rawField   = 2
	itemsField = 2
)

// unwrap returns what is in an envelope, in its place: of a long list there need be no second one.
func unwrap(envelope []byte) (raw []byte, err error) {
	err = eachOf(rawField, envelope, func(content []byte) error {
		raw = content
		return nil
	})
	return raw, err
}

// eachItem visits the encoded items of a list, in order.
func eachItem(list []byte, visit func([]byte) error) error { return eachOf(itemsField, list, visit) }

// eachOf visits what a message has in a field of bytes, each time that it has it.
func eachOf(number protowire.Number, message []byte, visit func([]byte) error) error {
	return wire.EachField(message, func(f wire.Field) error {
		if f.Number != number || f.Kind != protowire.BytesType {
			return nil
		}
		return visit(f.Bytes)
	})
}

// countItems returns how many there are before the end, or before what cannot be read.
func countItems(list []byte) (n int) {
	_ = eachItem(list, func([]byte) error { n++; return nil }) // who reads the items meets the error
	return n
}
