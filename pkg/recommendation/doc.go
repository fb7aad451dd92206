// SPDX-License-Identifier: Apache-2.0

// Package recommendation decides what the containers of a workload should request, by the spec of its MultidimPodAutoscaler.
//
//	amounts.go   amounts of the API ↔ those of package sizes
//	template.go  what the workload makes Pods of, as far as it matters to sizes
//	question.go  what a decision is made of
//	advise.go    what was used → advice
//	decide.go    advice → sizes, for the fleet and in each cluster
//
// How use becomes an amount, and what bounds that, is the business of package sizes; what the goals of replicas call for that of package
// goals. Here is what the spec makes of both. A [Question] with what is known of the use ([Known]) is decided on again by [Decide], by the
// same spec or by another one.
//
// It is pure.
package recommendation
