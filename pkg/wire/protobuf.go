// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
)

// WriteProtobuf is as [WriteJSON]. The length of the items comes before them, so they are written when all are there.
func WriteProtobuf[T Item](w io.Writer, empty []byte, items []T, memory Pages) error {
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(empty[len(Magic):]); err != nil {
		return fmt.Errorf("writing a list of pods in protobuf: %w", err)
	}
	page := append(memory.Lend(), envelope.Raw...)
	var all [][]byte
	size := 0
	form := &asProtobuf{}
	for _, item := range items {
		if len(page) >= PageBytes {
			all, size = append(all, page), size+len(page)
			page = memory.Lend()
		}
		page = item.AppendTo(page, form)
	}
	all, size = append(all, page), size+len(page)
	if _, err := io.WriteString(w, Magic); err != nil {
		return err
	}
	_, err := envelope.MarshalToWriter(w, size, func(w io.Writer) (int, error) { return memory.WriteAll(w, all...) })
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

// asProtobuf knows where what is open begins.
type asProtobuf struct{ item, metadata, container int }

var _ Form = (*asProtobuf)(nil)

// Begin writes what is empty too.
func (p *asProtobuf) Begin(b []byte, namespace, name string) []byte {
	b, p.item = begin(b, listItems)
	b, p.metadata = begin(b, podMetadata)
	b = append(appendField(b, metaName, name), unsetBeforeNamespace...)
	return append(appendField(b, metaNamespace, namespace), unsetAfterNamespace...)
}

// Label is an entry of a map.
func (p *asProtobuf) Label(b []byte, key, value string) []byte {
	return appendEntry(b, metaLabels, key, value)
}

// Annotation ends the metadata.
func (p *asProtobuf) Annotation(b []byte, key, value string) []byte {
	return end(appendEntry(b, metaAnnotations, key, value), p.metadata)
}

// Measured writes whole seconds, as the library does.
func (p *asProtobuf) Measured(b []byte, at time.Time, window time.Duration) []byte {
	b, timestamp := begin(b, podTimestamp)
	b = end(appendNumber(appendNumber(b, timeSeconds, at.Unix()), timeNanos, 0), timestamp)
	b, duration := begin(b, podWindow)
	return end(appendNumber(b, durationNanoseconds, int64(window)), duration)
}

// Container continues to its usage.
func (p *asProtobuf) Container(b []byte, name string) []byte {
	b, p.container = begin(b, podContainers)
	return appendField(b, containerName, name)
}

// Use is an entry of a map.
func (p *asProtobuf) Use(b []byte, resource string, n Number) []byte {
	b, entry := begin(b, containerUsage)
	b = appendField(b, entryKey, resource)
	b, value := begin(b, entryValue)
	b, text := begin(b, quantityText)
	return end(end(end(n.AppendText(b), text), value), entry)
}

// EndContainer tells its length.
func (p *asProtobuf) EndContainer(b []byte) []byte { return end(b, p.container) }

// End tells the item's length.
func (p *asProtobuf) End(b []byte) []byte { return end(b, p.item) }

func appendEntry(b []byte, field byte, key, value string) []byte {
	b, entry := begin(b, field)
	return end(appendField(appendField(b, entryKey, key), entryValue, value), entry)
}

func appendNumber(b []byte, field byte, n int64) []byte {
	return protowire.AppendVarint(append(b, field<<3|byte(protowire.VarintType)), uint64(n))
}

func appendField(b []byte, field byte, s string) []byte {
	return append(protowire.AppendVarint(append(b, field<<3|byte(protowire.BytesType)), uint64(len(s))), s...)
}

// begin opens a field of bytes, which end closes.
func begin(b []byte, field byte) (opened []byte, start int) {
	b = append(b, field<<3|byte(protowire.BytesType), 0)
	return b, len(b)
}

// end writes the count of bytes since start in front of them: nearly always it
// takes the one byte that begin has left for it.
func end(b []byte, start int) []byte {
	n := len(b) - start
	if n >= 0x80 {
		return endLong(b, start)
	}
	b[start-1] = byte(n)
	return b
}

func endLong(b []byte, start int) []byte {
	var room [binary.MaxVarintLen64]byte
	count := protowire.AppendVarint(room[:0], uint64(len(b)-start))
	b[start-1] = count[0]
	return slices.Insert(b, start, count[1:]...)
}
