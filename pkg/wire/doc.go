// SPDX-License-Identifier: Apache-2.0

// Package wire reads and writes what goes over the wire, where it is done by hand because the library makes objects of
// it, which costs several times as much:
//
//	reader.go               the fields of any message in protobuf
//	item.go ─► json.go      a list of PodMetrics, byte for byte as the library writes it
//	       └─► protobuf.go
//	number.go               a measured quantity as text
//
// What the messages mean is left to those who read and write them.
package wire
