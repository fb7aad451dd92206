// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"io"
	"time"
)

// Item is one PodMetrics of a list, which knows its parts. They are written straight from where they lie: to gather
// them first, though no memory is made for it, takes half as long again as to write them.
type Item interface {
	// AppendTo appends the item in that form, by all of the form's methods from Begin to End, in their order.
	AppendTo(b []byte, f Form) []byte
}

// Form is JSON or protobuf. Its methods append a part of an item, as the API server's library writes it.
type Form interface {
	Begin(b []byte, namespace, name string) []byte
	// Label comes once at least, in order of the keys.
	Label(b []byte, key, value string) []byte
	// Annotation comes once.
	Annotation(b []byte, key, value string) []byte
	// Measured is not given the zero time.
	Measured(b []byte, at time.Time, window time.Duration) []byte
	// Container begins one. What it uses follows, in order of the resources, and EndContainer.
	Container(b []byte, name string) []byte
	Use(b []byte, resource string, n Number) []byte
	EndContainer(b []byte) []byte
	End(b []byte) []byte
}

// PageBytes is the size of the pages in which lists are written.
const PageBytes = 64 << 10

// Pages are the memory in which lists are written.
type Pages interface {
	// Lend returns an empty page of PageBytes, and some room for a last large item.
	Lend() []byte
	// WriteAll writes pages that were lent, one after the other, and takes them back. It returns how many bytes it wrote.
	WriteAll(w io.Writer, pages ...[]byte) (int, error)
}
