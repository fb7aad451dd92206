// SPDX-License-Identifier: Apache-2.0

// Package recordstore keeps the record of decisions: the last ones, as many as bounds of bytes and of age allow, in memory or in files of
// a directory.
//
// Who decides hands a record over and continues: a goroutine writes, once a second, or when many wait. Where it cannot keep up, records
// are left out, and counted. They are written to segments; the oldest one goes when all together are too large. A segment is a stream of
// its own ([recording.Magic]), so that nothing is needed of those that are gone. After a restart a new segment is begun, so that one whose
// last write was torn off is read up to there. What one program wrote to a directory is read by the next; without a directory a restart
// begins again.
//
// The record of one object is served over HTTP, and asked for: serve.go, remote.go.
package recordstore
