// SPDX-License-Identifier: Apache-2.0

// Package hubmetrics asks the hub's metrics APIs, whoever serves them, for the
// metrics by which a workload is scaled: metrics.k8s.io, custom.metrics.k8s.io
// and external.metrics.k8s.io; and the first for all that its containers use.
//
// It asks, decodes and speaks as the HorizontalPodAutoscaler of Kubernetes 1.37
// does: the same paths, the same values, the same errors. On top of that:
//
//   - every question has its caller's context, and is sent once: what a server
//     says instead of an answer, 429 with Retry-After included, is the answer
//   - a part of the fleet will do, which is said by [fleet.PartialHeader]; other
//     servers ignore it
//   - [fleet.CoverageHeader] says which clusters the answer holds, an error too.
//     Where there is none, the server knows of no fleet: what it says is the whole
//   - every item is filed under its Pod's cluster; see locate.go
//
// The life of a question: client.go (what is asked) → usage.go (and skim.go, which reads its answers), custom.go,
// external.go (one API each; version.go says which version of custom.metrics.k8s.io)
// → exchange.go (there and back) → locate.go (whose Pod). Uses goes by uses.go and uses_list.go in the place of usage.go.
package hubmetrics
