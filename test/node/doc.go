// SPDX-License-Identifier: Apache-2.0

// Package node holds what the sizing of running Pods takes for granted to a real kubelet: what becomes of a resize, and how a
// kill for want of memory is told of. Nodes that are played would say what we expect them to.
package node
