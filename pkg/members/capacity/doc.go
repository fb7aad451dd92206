// SPDX-License-Identifier: Apache-2.0

// Package capacity knows how many further replicas of a workload each member has room for, and how large they may be.
//
//		            ┌─ Pods of the member, of package pods
//		            │  nodes, ResourceQuotas, mirrored ──────────────────────► fit.Estimate
//		Estimate ──►┤                                            (if unknown)
//		            └─ the summary in Karmada's Cluster, on the hub ─────────► fit.EstimateSummary
//		LargestNodes ──► nodes, the same ones ─────────────────────────────────► fit.Largest
//		LimitRanges ───► LimitRanges of the namespace, mirrored once they are asked for
//		QuotaLeft ─────► ResourceQuotas, the same ones ────────────────────────► fit.QuotaLeft
//
//	  - A member is read only while somebody asks for it, and for some minutes after: its nodes and the Pods of all its
//	    namespaces, as records of some hundred bytes. The Pods are those that decisions on replicas rest on: they are
//	    watched once.
//	  - What cannot be read is unknown, with the reason: a part of what is needed is never taken for all of it, and what was
//	    known counts for three minutes. That rights are missing is such a reason, and nothing to be told of again and again.
//	  - Nodes are of no namespace. Where not all namespaces are in scope they are not asked for, and room is unknown for that reason.
//	  - Beside what [fit.Estimate] leaves out: nodes that an autoscaler would add do not count.
package capacity
