// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the end-to-end tests: the built programs on real control
// planes, asked by the real kubectl.
//
// All tests share one lab: a hub that runs workloads, and three members. Each
// member has the namespace shop:
//
//	web-0, web-1     of a StatefulSet, so these names are in every member
//	only-MEMBER      a pod whose name is in this member alone
//	cart             a pod of two containers, in every member
//
// A test that breaks something fixes it before it ends, and every test begins
// by waiting until the fleet is whole. Those that are parallel run at the end,
// beside the one that waits for a minute to begin: they have the fleet one
// after the other, and hang or stop no cluster.
package e2e
