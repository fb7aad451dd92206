// SPDX-License-Identifier: Apache-2.0

// Package explanation makes of a decision on replicas what is stored of it, what is printed of it, and the decision again with
// another spec.
//
//	of.go     a decision → status.explanation, at most 8 KiB    fit.go
//	steps.go  the steps from what metrics ask for to what is decided
//	text.go   status.explanation → text whose arithmetic a person can redo
//	again.go  status.explanation, and a spec → the decision again
//	memory.go whether another step limits than was written last
//
// and the same of a decision on the bounds of clusters, in distributed mode: split.go, text_split.go, again_split.go.
//
// It is pure. All numbers are integers, so that the arithmetic comes out exactly: a quotient in the text is one of floating point, in
// the order written, as the decision is; // drops the fraction.
package explanation
