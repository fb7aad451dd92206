// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/usage"
)

// magicBytes is the length of what leads a Kubernetes object in protobuf. A
// runtime.Unknown follows, which holds the object.
const magicBytes = 4

// writeProtobuf writes the items behind what the empty list holds. Their length
// comes before them, so they are written when all are there.
func writeProtobuf(w io.Writer, empty []byte, items []found, memory *pages) error {
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(empty[magicBytes:]); err != nil {
		return fmt.Errorf("writing a list of pods in protobuf: %w", err)
	}
	page := append(memory.lend(), envelope.Raw...)
	var all [][]byte
	size := 0
	for _, item := range items {
		if len(page) >= pageBytes {
			all, size = append(all, page), size+len(page)
			page = memory.lend()
		}
		page = item.appendProtobuf(page)
	}
	all, size = append(all, page), size+len(page)
	if _, err := w.Write(empty[:magicBytes]); err != nil {
		return err
	}
	_, err := envelope.MarshalToWriter(w, size, func(w io.Writer) (int, error) { return memory.writeAll(w, all...) })
	return err
}

// The fields of the messages, as the .proto files of k8s.io/metrics and
// k8s.io/apimachinery number them.
const (
	listItems = 2

	podMetadata, podTimestamp, podWindow, podContainers = 1, 2, 3, 4

	metaName, metaNamespace, metaLabels, metaAnnotations = 1, 3, 11, 12

	timeSeconds, timeNanos = 1, 2
	durationNanoseconds    = 1

	containerName, containerUsage = 1, 2

	entryKey, entryValue = 1, 2
	quantityText         = 1
)

// What the library writes of metadata that is not set: generateName; and
// selfLink, uid, resourceVersion, generation, creationTimestamp.
const (
	unsetBeforeNamespace = "\x12\x00"
	unsetAfterNamespace  = "\x22\x00\x2a\x00\x32\x00\x38\x00\x42\x00"
)

// appendProtobuf appends the pod, as an item of a list, as found.pod and the
// library's encoder would.
func (f found) appendProtobuf(b []byte) []byte {
	b, item := begin(b, listItems)

	b, metadata := begin(b, podMetadata)
	b = append(appendField(b, metaName, f.Name()), unsetBeforeNamespace...)
	b = append(appendField(b, metaNamespace, f.Namespace()), unsetAfterNamespace...)
	for key, value := range f.labels() {
		b = appendEntry(b, metaLabels, key, value)
	}
	b = end(appendEntry(b, metaAnnotations, karmadaClusterAnnotation, f.cluster.name), metadata)

	b, timestamp := begin(b, podTimestamp)
	b = end(appendNumber(appendNumber(b, timeSeconds, f.Timestamp().Unix()), timeNanos, 0), timestamp)
	b, window := begin(b, podWindow)
	b = end(appendNumber(b, durationNanoseconds, int64(f.Window())), window)

	for name, usage := range f.Containers() {
		var container int
		b, container = begin(b, podContainers)
		b = end(appendUsage(appendField(b, containerName, name), usage), container)
	}
	return end(b, item)
}

func appendUsage(b []byte, u usage.Usage) []byte {
	for resource, number := range u.All() {
		var entry, value, text int
		b, entry = begin(b, containerUsage)
		b = appendField(b, entryKey, resource)
		b, value = begin(b, entryValue)
		b, text = begin(b, quantityText)
		b = end(end(end(number.AppendText(b), text), value), entry)
	}
	return b
}

func appendEntry(b []byte, field byte, key, value string) []byte {
	b, entry := begin(b, field)
	return end(appendField(appendField(b, entryKey, key), entryValue, value), entry)
}

// How a field is written: its number and kind, and for one of bytes their count.
const (
	kindNumber = 0
	kindBytes  = 2
)

func appendNumber(b []byte, field byte, n int64) []byte {
	return binary.AppendUvarint(append(b, field<<3|kindNumber), uint64(n))
}

func appendField(b []byte, field byte, s string) []byte {
	return append(binary.AppendUvarint(append(b, field<<3|kindBytes), uint64(len(s))), s...)
}

// begin opens a field of bytes, which end closes.
func begin(b []byte, field byte) (opened []byte, start int) {
	b = append(b, field<<3|kindBytes, 0)
	return b, len(b)
}

// end writes the count of bytes since start in front of them: nearly always it
// takes the one byte that begin has left for it.
func end(b []byte, start int) []byte {
	var count [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(count[:], uint64(len(b)-start))
	b[start-1] = count[0]
	return slices.Insert(b, start, count[1:n]...)
}
