// SPDX-License-Identifier: Apache-2.0

// Package top shows what Pods and nodes use, with the cluster of each.
//
//	Pods, Nodes  what an answer of metrics.k8s.io says, as rows
//	Sum, Sort    rows of clusters in place of objects; the order
//	Table        rows for people, in the units of kubectl top
//
// All of it is pure: the command asks for the list.
package top
