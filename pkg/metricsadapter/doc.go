// SPDX-License-Identifier: Apache-2.0

// Package metricsadapter serves metrics.k8s.io for a whole fleet, as an
// aggregated API server behind the hub's.
//
// It looks to a client like one metrics-server in front of one large cluster.
// What differs, since there are many:
//
//   - items bear the label fleetscale.io/cluster, by which they can be selected
//   - a name that exists in several clusters is listed as often, and to get it
//     by its name alone is a conflict
//   - an answer that lacks a member says so, to people by a warning and to
//     machines by a header; when no member answered there is no answer but 503
//
// The life of a question: conversation.go (what the HTTP exchange needs beside
// the object) → question.go (who is asked for what) → package usage →
// coverage.go (may this be served, and what must be said) → pods.go, nodes.go
// (the objects) → table.go (for people).
package metricsadapter
