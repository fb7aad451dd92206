// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"bytes"
	"encoding/binary"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

// Most of what a question for usage costs is making objects of what nobody
// looks at: maps of labels, other resources. So a list in protobuf, the form in
// which servers answer, is skimmed: what is needed is read, the rest passed
// over. Where something out of the ordinary is come upon it gives up, and the list
// is decoded as any other: what is wrong with it is said in the usual words.

// protobufMagic leads a Kubernetes object in protobuf; the envelope follows.
var protobufMagic = []byte("k8s\x00")

// skim reads a PodMetricsList of v1beta1. It is false if it can not be skimmed.
func skim(body []byte, resource corev1.ResourceName, container string) ([]podUse, bool) {
	enveloped, found := bytes.CutPrefix(body, protobufMagic)
	var envelope runtime.Unknown
	if !found || envelope.Unmarshal(enveloped) != nil || envelope.ContentEncoding != "" ||
		envelope.APIVersion != metricsv1beta1.SchemeGroupVersion.String() || envelope.Kind != "PodMetricsList" {
		return nil, false
	}
	var pods []podUse
	ok := eachValue(envelope.Raw, func(field int, value []byte) bool {
		if field != 2 { // items
			return true
		}
		pods = append(pods, podUse{use: use{container: container}})
		return pods[len(pods)-1].skim(value, resource)
	})
	return pods, ok
}

func (p *podUse) skim(item []byte, resource corev1.ResourceName) bool {
	return eachValue(item, func(field int, value []byte) bool {
		switch field {
		case 1:
			return eachField(value, p.skimMeta)
		case 2:
			return p.at.Unmarshal(value) == nil
		case 3:
			return p.window.Unmarshal(value) == nil
		case 4:
			return p.use.skim(value, resource)
		default:
			return true
		}
	})
}

func (p *podUse) skimMeta(field int, value []byte) bool {
	switch field {
	case 1:
		p.name = string(value)
		return value != nil
	case 11:
		return skimMark(value, fleet.ClusterLabel, &p.label)
	case 12:
		return skimMark(value, queryFromAnnotation, &p.annotation)
	default:
		return true
	}
}

// skimMark reads one entry of a map, into mark if it is the one of that key.
func skimMark(entry []byte, key string, mark *string) bool {
	k, v, ok := skimEntry(entry)
	if ok && string(k) == key {
		*mark = string(v)
	}
	return ok && entry != nil
}

func (u *use) skim(container []byte, name corev1.ResourceName) bool {
	var title string
	var quantity resource.Quantity
	has := false
	ok := eachValue(container, func(field int, value []byte) bool {
		switch field {
		case 1:
			title = string(value)
		case 2:
			k, v, ok := skimEntry(value)
			if !ok || string(k) != string(name) {
				return ok
			}
			quantity, has = resource.Quantity{}, true
			return guard.Quantity(v) == nil && quantity.Unmarshal(v) == nil
		}
		return true
	})
	u.add(title, has, quantity.MilliValue())
	return ok
}

// skimEntry reads one entry of a map.
func skimEntry(entry []byte) (key, value []byte, ok bool) {
	ok = eachValue(entry, func(field int, v []byte) bool {
		switch field {
		case 1:
			key = v
		case 2:
			value = v
		}
		return true
	})
	return key, value, ok
}

// eachValue is eachField of a message that has no numbers.
func eachValue(message []byte, f func(field int, value []byte) bool) bool {
	return eachField(message, func(field int, value []byte) bool { return value != nil && f(field, value) })
}

// eachField calls f with each field of a message in order: with the value of a string or a message, and with nil for a
// number. It is false if the message is not well formed or has other fields, or as soon as f is.
func eachField(message []byte, f func(field int, value []byte) bool) bool {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 || tag>>3 == 0 || tag>>3 > maxField {
			return false
		}
		message = message[n:]
		number, n := binary.Uvarint(message)
		if n <= 0 {
			return false
		}
		message = message[n:]
		var value []byte
		switch tag & 7 {
		case wireVarint:
		case wireBytes:
			if number > uint64(len(message)) {
				return false
			}
			value, message = message[:number:number], message[number:]
		default:
			return false
		}
		if !f(int(tag>>3), value) {
			return false
		}
	}
	return true
}

const (
	wireVarint = 0
	wireBytes  = 2
	maxField   = 1<<29 - 1
)

// podUse is what is wanted of one PodMetrics.
type podUse struct {
	use

	name, label, annotation string
	at                      metav1.Time
	window                  metav1.Duration
}

// use adds up what a Pod's containers use, or takes what one of them uses.
type use struct {
	container string // only this one, if it is named
	milli     int64
	known     bool // false if a container lacks the resource, or none is meant
	over      bool // what follows changes nothing
}

// add takes the containers in order. Has says whether it has the resource.
func (u *use) add(container string, has bool, milli int64) {
	if u.over || u.container != "" && container != u.container {
		return
	}
	u.milli, u.known = u.milli+milli, has
	u.over = !has || u.container != ""
}
