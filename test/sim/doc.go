// SPDX-License-Identifier: Apache-2.0

// Package sim simulates member clusters: one process serves any number of API
// servers on loopback, each with Pods and what is measured of them, in any number,
// speed and state of failure. Nothing runs in them, so a machine that is too
// small for ten real control planes holds a hundred of these.
//
//	Fleet ──► Member, an API server of its own: address, certificate, token
//	            │  conduct   what it does to requests: wait, fail, hang, lie, be away
//	            │  tally     what it was asked
//	            └► world     shelves of objects in order, one revision, a log for watches
//	                 ▲
//	                 └ Workload: a Deployment or StatefulSet, and its Pods at once
//
// What is served, in JSON and in protobuf, as a kube-apiserver and the metrics
// adapters behind it do:
//
//   - pods, nodes, namespaces, resourcequotas, deployments, statefulsets and
//     horizontalpodautoscalers: get, list in pages, watch, by labels and by
//     some fields; also as PartialObjectMetadata
//   - /scale of deployments and statefulsets, which makes and removes Pods at once
//   - horizontalpodautoscalers, federatedhpas, cronfederatedhpas, multidimpodautoscalers, secrets and configmaps can be written,
//     the former also at /status; nothing acts on them. Events are taken, and not kept
//   - podsizes and mutatingadmissionpolicies can be written, and limitranges be read, of which there are none; no Pod gets a size
//   - metrics.k8s.io, which changes once per resolution; custom.metrics.k8s.io and
//     external.metrics.k8s.io, as set
//   - /metrics/nodes/NAME/metrics/resource, what a kubelet tells a metrics-server, and
//     the token and access reviews that one needs, which are all granted
//   - discovery
//
// So a member can be a hub too, of controllers that need no more than that: Delegate
// has a metrics adapter answer for metrics.k8s.io, and a Workload may be a mere Template.
//
// There is no authorization: who has the token may do all of it.
package sim
