// SPDX-License-Identifier: Apache-2.0

// Package lab runs a real fleet on one machine: a hub and any number of member
// clusters, each with its own kube-apiserver, on loopback and without
// containers. Members have a scheduler, a controller manager, metrics-server,
// an adapter for custom and external metrics whose values are set over HTTP,
// and nodes and pods that are played by kwok, with a usage that can be set
// while they run; or, where [RealNodesPossible], nodes with a real kubelet.
//
//	             etcd (one; every cluster has a prefix of its own)
//	               │
//	hub ── kube-apiserver ── kube-controller-manager
//	member1 ── kube-apiserver ─┬─ kube-controller-manager, kube-scheduler
//	                           ├─ kwok: nodes, pods, their usage
//	                           ├─ metrics-server    metrics.k8s.io
//	                           └─ test-adapter      custom.metrics.k8s.io, external.metrics.k8s.io
//	member2 ── ...
//
// [Up] starts it, and returns when all of it answers. Whatever the lab needs
// lies in one folder, [Options.Dir], and whatever it starts ends with the
// process that called Up, however that dies, unless it let go by
// [Lab.Release]. [Load] attaches to a lab that another process started.
package lab
