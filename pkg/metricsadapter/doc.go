// SPDX-License-Identifier: Apache-2.0

// Package metricsadapter serves metrics.k8s.io, custom.metrics.k8s.io and
// external.metrics.k8s.io for a whole fleet, members.fleetscale.io, which is
// the fleet itself (package memberapi), and history.fleetscale.io, the past of
// autoscalers (package historyapi), as an aggregated API server behind the
// hub's.
//
// It looks to a client like one metrics-server, and one adapter of custom and
// external metrics, in front of one large cluster. What differs, since there
// are many:
//
//   - items bear the label fleetscale.io/cluster, by which they can be selected;
//     those of custom metrics, which have no labels, in the metric's selector
//   - a pod's name that exists in several clusters is listed as often, and to
//     get its usage by the name alone is a conflict
//   - the figures that several clusters have of one object, and of one external
//     series, are made one; package merge says how
//   - an answer that lacks a member says so, to people by a warning and to
//     machines by a header; when it would be wrong without, there is no answer
//     but 503
//
// The life of a question for usage: conversation.go (what the HTTP exchange
// needs beside the object) → question.go (who is asked for what) → package
// usage → coverage.go (what must be said) → merged.go (all in one order) →
// podlist.go and package wire (pods, for programs) or pods.go, nodes.go
// (objects) → table.go (for people).
//
// And of one for a metric: dynamic.go (the API) → custom.go, external.go (what
// is asked) → package relay → relayed.go (may this be served) → package merge.
package metricsadapter
