// SPDX-License-Identifier: Apache-2.0

// Package admission says what may be stored, and why not: of a FederatedHPA, of
// a CronFederatedHPA and of a MultidimPodAutoscaler, alone and beside the other
// objects of its namespace.
//
//	refused   what cannot work; each fault with what to write instead
//	warned    what works and may surprise
//
// An object is mutated first, which completes it, and validated then, as the
// API server calls its webhooks. Its metadata is the API server's to judge.
//
// The faults of the part that is Kubernetes' own have the field paths and the
// words of Kubernetes 1.37. Where Kubernetes lets something through that fails
// once it is used, or does not do what it says, there is a rule of ours.
package admission
