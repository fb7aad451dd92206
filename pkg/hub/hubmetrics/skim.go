// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"bytes"
	"cmp"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/wire"
)

// Most of what a question for usage costs is making objects of what nobody
// reads: maps of labels, other resources. So a list in protobuf, the form in
// which servers answer, is skimmed: what is needed is read, the rest passed
// over. Where something out of the ordinary is come upon it gives up, and the list
// is decoded as any other: what is wrong with it is said in the usual words.

// errUnusual gives up.
var errUnusual = errors.New("a list with something out of the ordinary")

// skim reads of a PodMetricsList of v1beta1 what askUsage needs. It is false if the list cannot be skimmed.
func skim(body []byte, resource corev1.ResourceName, container string) ([]podUse, bool) {
	var pods []podUse
	ok := skimItems(body, func(item []byte) error {
		pods = append(pods, podUse{use: use{container: container}})
		p := &pods[len(pods)-1]
		return p.podItem.skim(item, func(container []byte) error { return p.use.skim(container, resource) })
	})
	return pods, ok
}

// skimItems visits the items of a PodMetricsList of v1beta1. It is false if it cannot be skimmed.
func skimItems(body []byte, visit func(item []byte) error) bool {
	enveloped, found := bytes.CutPrefix(body, []byte(wire.Magic))
	var envelope runtime.Unknown
	if !found || envelope.Unmarshal(enveloped) != nil || envelope.ContentEncoding != "" ||
		envelope.APIVersion != metricsv1beta1.SchemeGroupVersion.String() || envelope.Kind != "PodMetricsList" {
		return false
	}
	return wire.EachField(envelope.Raw, func(f wire.Field) error {
		switch {
		case f.Kind != protowire.BytesType:
			return errUnusual
		case f.Number != 2: // items
			return nil
		}
		return visit(f.Bytes)
	}) == nil
}

// podItem is what is wanted of one PodMetrics besides its containers.
type podItem struct {
	name, label, annotation string
	at                      metav1.Time
	window                  metav1.Duration
}

func podItemOf(p *metricsv1beta1.PodMetrics) podItem {
	return podItem{
		name: p.Name, label: p.Labels[fleet.ClusterLabel], annotation: p.Annotations[queryFromAnnotation],
		at: p.Timestamp, window: p.Window,
	}
}

// cluster is empty where the item does not say.
func (i *podItem) cluster() string { return cmp.Or(i.label, i.annotation) }

func (i *podItem) skim(encoded []byte, container func([]byte) error) error {
	return wire.EachField(encoded, func(f wire.Field) error {
		switch {
		case f.Kind != protowire.BytesType:
			return errUnusual
		case f.Number == 1:
			return wire.EachField(f.Bytes, i.skimMeta)
		case f.Number == 2:
			return i.at.Unmarshal(f.Bytes)
		case f.Number == 3:
			return i.window.Unmarshal(f.Bytes)
		case f.Number == 4:
			return container(f.Bytes)
		}
		return nil
	})
}

func (i *podItem) skimMeta(f wire.Field) error {
	switch isNumber := f.Kind == protowire.VarintType; {
	case !isNumber && f.Kind != protowire.BytesType, isNumber && (f.Number == 1 || f.Number == 11 || f.Number == 12):
		return errUnusual
	case f.Number == 1:
		i.name = string(f.Bytes)
	case f.Number == 11:
		return skimMark(f.Bytes, fleet.ClusterLabel, &i.label)
	case f.Number == 12:
		return skimMark(f.Bytes, queryFromAnnotation, &i.annotation)
	}
	return nil
}

// skimMark reads one entry of a map, into mark if it is the one of that key.
func skimMark(entry []byte, key string, mark *string) error {
	k, v, err := skimEntry(entry)
	if err == nil && string(k) == key {
		*mark = string(v)
	}
	return err
}

func (u *use) skim(container []byte, name corev1.ResourceName) error {
	var used resource.Quantity
	has := false
	title, err := skimContainer(container, func(key, value []byte) error {
		if string(key) != string(name) {
			return nil
		}
		has = true
		return skimQuantity(value, &used)
	})
	u.add(string(title), has, used.MilliValue())
	return err
}

// skimContainer reads the name of a container, and visits its usage by resource.
func skimContainer(container []byte, usage func(resource, quantity []byte) error) (name []byte, err error) {
	err = wire.EachField(container, func(f wire.Field) error {
		switch {
		case f.Kind != protowire.BytesType:
			return errUnusual
		case f.Number == 1:
			name = f.Bytes
		case f.Number == 2:
			key, value, err := skimEntry(f.Bytes)
			if err != nil {
				return err
			}
			return usage(key, value)
		}
		return nil
	})
	return name, err
}

func skimQuantity(encoded []byte, q *resource.Quantity) error {
	*q = resource.Quantity{}
	if err := guard.Quantity(encoded); err != nil {
		return err
	}
	return q.Unmarshal(encoded)
}

// skimEntry reads one entry of a map.
func skimEntry(entry []byte) (key, value []byte, err error) {
	err = wire.EachField(entry, func(f wire.Field) error {
		switch {
		case f.Kind != protowire.BytesType:
			return errUnusual
		case f.Number == 1:
			key = f.Bytes
		case f.Number == 2:
			value = f.Bytes
		}
		return nil
	})
	return key, value, err
}

// podUse is what askUsage wants of one PodMetrics.
type podUse struct {
	podItem
	use
}

// use adds up what a Pod's containers use, or takes what one of them uses.
type use struct {
	container string // only this one, if it is named
	milli     int64
	known     bool // false if a container lacks the resource, or none is meant
	over      bool // what follows changes nothing
}

// add takes the containers in order. Has reports whether it has the resource.
func (u *use) add(container string, has bool, milli int64) {
	if u.over || u.container != "" && container != u.container {
		return
	}
	u.milli, u.known = u.milli+milli, has
	u.over = !has || u.container != ""
}
