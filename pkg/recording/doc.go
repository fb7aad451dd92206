// SPDX-License-Identifier: Apache-2.0

// Package recording is the record of decisions, on replicas, on the bounds of clusters and on sizes: what each was told, not what it
// said, so that it can be made again by the same or by another spec.
//
//	record.go  one decision: its question, retold (see [replicas.Decision.Retold]), and what became of it
//	split.go   one decision on bounds: its snapshot, and what was said, to be compared
//	sizes.go   one decision on sizes: its question, what was used meanwhile, and what was said, to be compared
//	flat.go    record ↔ numbers, always in the same order
//	spec.go    spec ↔ text
//	delta.go   numbers ↔ what differs from the numbers before
//	stream.go  records of many objects, one after the other, each in a frame of its own
//
// A record of an object at rest differs from the one before in a few numbers, and takes some tens of bytes; each text, and each spec, is
// written once. A stream that ends in the middle of a frame, as after a crash, is whole up to that frame. What is decoded may be anything:
// it takes no more memory than [Most] says. A stream of an older version is read, too, and in one of this version a record of a kind that
// is not known is left out, and counted: what it brings for others, texts, is learned all the same.
//
// It is pure.
package recording
