// SPDX-License-Identifier: Apache-2.0

// Package pause stops an autoscaler for a while, or only its scale-in, and takes that back.
//
//	ParseTargets  which objects are meant: kind/name, as kubectl has it   target.go
//	Plan          what to change in one of them; pure                     plan.go
//	Apply         reads it, and patches what was read and nothing newer   apply.go
//
// What there was before a pause is kept in an annotation of the object, [BeforeAnnotation], so that a resume puts back that
// and not a default. A resume takes back what a pause did, and nothing that a person wrote otherwise.
package pause
