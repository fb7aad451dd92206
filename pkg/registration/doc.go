// SPDX-License-Identifier: Apache-2.0

// Package registration says which objects of the hub register clusters, and
// what they mean. It asks nobody and opens nothing: package watcher below it
// keeps the objects, package member asks the clusters.
//
//	Secret          one namespace, label fleetscale.io/member=true, a kubeconfig in it
//	Cluster         cluster.karmada.io/v1alpha1, syncMode Push, with the Secret that it refers to
//
// And if [Options] name them
//
//	Secret          the same namespace, label sigs.k8s.io/multicluster-runtime-kubeconfig=true
//	ClusterProfile  multicluster.x-k8s.io/v1alpha1, of some namespaces, with a Secret beside it
//	Cluster         cluster.x-k8s.io, v1beta2 or v1beta1, of some namespaces, with the Secret that Cluster API writes for it
//	Cluster         fleet.cattle.io/v1alpha1 of Rancher, of some namespaces, with the Secret that it refers to beside it
//	Secret          of Argo CD, label argocd.argoproj.io/secret-type=cluster, with JSON of its own in it
//
// Each kind is a [Source]: which objects, and how one is read. What comes of any
// object is a [Registration], whatever the object holds: with the way to an API
// server, or refused with all that is wrong with it and how to fix that. So one
// bad registration is listed with its reason, and no other suffers from it. What
// only informs people, such as a price, refuses nothing: a mistake there is a
// warning.
//
// A further kind is one file with a Source, its place among all of [Sources], and a folder
// of golden objects in testdata; what holds for every Source is in the test of
// that name, which runs over them.
//
// Who may write a registration is not trusted: no command, file or unverified
// server without [Policy]'s leave, and no message repeats what may be a secret.
package registration
