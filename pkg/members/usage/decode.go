// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/wire"
)

const (
	contentTypeProtobuf = "application/vnd.kubernetes.protobuf"
	contentTypeJSON     = "application/json"
	// accept asks for protobuf, which is decoded in a third of JSON's time.
	accept = contentTypeProtobuf + "," + contentTypeJSON
)

// decodePods makes a batch of a PodMetricsList, of what was asked for. Its error is a
// *fleet.Silence: an answer that cannot be read is none.
func (k key) decodePods(body []byte, contentType string) (*Batch, error) {
	var list podList
	if err := list.expect(k); err != nil {
		return nil, err
	}
	if err := decode(body, contentType, &list); err != nil {
		return nil, err
	}
	return list.batch(), nil
}

// decodeNodes makes a batch of a NodeMetricsList; see decodePods.
func (k key) decodeNodes(body []byte, contentType string) (*Batch, error) {
	var list metricsv1beta1.NodeMetricsList
	if err := decode(body, contentType, &list); err != nil {
		return nil, err
	}
	var b batchBuilder
	if err := b.expect(k); err != nil {
		return nil, err
	}
	b.grow(len(list.Items))
	for i := range list.Items {
		item := &list.Items[i]
		b.add(&item.ObjectMeta, item.Timestamp, item.Window, []container{{usage: item.Usage}})
	}
	return b.batch(), nil
}

// decode decodes what was checked.
func decode(body []byte, contentType string, into interface{ Unmarshal([]byte) error }) error {
	raw, isProtobuf, err := content(body, contentType)
	switch {
	case err != nil:
	case isProtobuf:
		err = into.Unmarshal(raw)
	default:
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return badAnswer(err)
	}
	return nil
}

// content is a message without its envelope, or a text in JSON.
func content(body []byte, contentType string) (raw []byte, isProtobuf bool, err error) {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("content type %q: %w", contentType, err)
	case media == contentTypeJSON:
		return body, false, nil
	case media != contentTypeProtobuf:
		return nil, false, fmt.Errorf("content type %q is neither protobuf nor JSON", media)
	}
	envelope, found := bytes.CutPrefix(body, []byte(wire.Magic))
	if !found {
		return nil, false, fmt.Errorf("the protobuf lacks Kubernetes' leading bytes")
	}
	raw, err = unwrap(envelope)
	return raw, true, err
}

func badAnswer(err error) error { return connection.BadAnswer("decoding the answer", err) }

// batchBuilder collects samples in any order: those that were asked for, each once.
type batchBuilder struct {
	b        Batch
	asked    key
	selector labels.Selector // nil: of all labels
}

// expect says what was asked for.
func (b *batchBuilder) expect(k key) (err error) {
	b.asked = k
	if k.selector != "" {
		b.selector, err = labels.Parse(k.selector)
	}
	return err
}

// expects is true for an item of what was asked for: of the namespace, of one at all, or, for
// a node, of none. Labels say so only where there are any: the selector is for members that leave them out.
func (b *batchBuilder) expects(meta *metav1.ObjectMeta) bool {
	return meta.Name != "" &&
		(b.asked.namespace == meta.Namespace || b.asked.namespace == "" && meta.Namespace != "") &&
		(b.asked.resource == podsResource) == (meta.Namespace != "") &&
		(b.selector == nil || len(meta.Labels) == 0 || b.selector.Matches(labels.Set(meta.Labels)))
}

// grow makes room for so many samples, and no more.
func (b *batchBuilder) grow(n int) { b.b.records = make([]record, 0, n) }

func (b *batchBuilder) add(meta *metav1.ObjectMeta, at metav1.Time, window metav1.Duration, containers []container) {
	if !b.expects(meta) {
		b.b.dropped++
		return
	}
	r := record{
		namespace: meta.Namespace,
		name:      meta.Name,
		labels:    compact.LabelsOf(meta.Labels, meta.Name),
		at:        nanoseconds(at),
		window:    window.Duration,
		first:     int32(len(b.b.values)),
	}
	r.shape, b.b.values = newShape(containers, b.b.values)
	if n := len(b.b.records); n > 0 && b.b.records[n-1].namespace == r.namespace {
		r.namespace = b.b.records[n-1].namespace // one string for all pods of it
	}
	b.b.records = append(b.b.records, r)
}

// nanoseconds is 0 for a time that the member left out.
func nanoseconds(t metav1.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// batch returns what was collected. It stays in memory for long, so it is no more than is needed.
func (b *batchBuilder) batch() *Batch {
	slices.SortStableFunc(b.b.records, byName) // members give them in this order already
	b.dropRepeated()
	b.b.values = append(make([]int64, 0, len(b.b.values)), b.b.values...)
	return &b.b
}

// dropRepeated keeps the first of those with one name, and no more memory than the rest needs.
func (b *batchBuilder) dropRepeated() {
	all := len(b.b.records)
	b.b.records = slices.CompactFunc(b.b.records, func(r, next record) bool { return r.name == next.name && r.namespace == next.namespace })
	b.b.dropped += all - len(b.b.records)
	if b.b.dropped == 0 {
		return
	}
	whole := b.b
	b.b = Batch{records: make([]record, 0, len(whole.records)), dropped: whole.dropped}
	for _, r := range whole.records {
		of := whole.values[r.first:][:r.shape.values()]
		r.first = int32(len(b.b.values))
		b.b.records, b.b.values = append(b.b.records, r), append(b.b.values, of...)
	}
}
