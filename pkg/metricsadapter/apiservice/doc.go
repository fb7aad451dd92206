// SPDX-License-Identifier: Apache-2.0

// Package apiservice cares for the APIServices that lead the hub's metrics APIs
// to us: metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io, or
// those of the three that we are to serve; and members.fleetscale.io, which
// nobody else serves, so that nothing of it is ever restored.
//
//	Takeover  an administrator's act: points them at our Service, and writes
//	          what stood there before into an annotation
//	Guard     the adapter's watch: tells when somebody points them elsewhere,
//	          and never writes
//	Restore   an administrator's act: puts back what stood there before
//
// Only the two acts write, with the rights of the person who runs them: a
// program that may rewrite APIServices could become any API of its hub.
package apiservice
