// SPDX-License-Identifier: Apache-2.0

// Package takeover points the hub's metrics APIs at the metrics adapter, and back:
// metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io, or those of
// the three that the adapter is to serve.
//
//	Takeover  points their APIServices at our Service, and writes what stood
//	          there before into an annotation
//	Restore   puts back what stood there before
//
// Both write with the rights of the person who runs them. The adapter only
// watches the outcome (pkg/metricsadapter/apiservice).
package takeover
