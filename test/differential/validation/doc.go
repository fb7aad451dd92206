// SPDX-License-Identifier: Apache-2.0

// Package validation holds pkg/admission to Kubernetes' own validation of a
// HorizontalPodAutoscaler, on random specs: what Kubernetes refuses is refused,
// in the same words at the same field, and what is refused beyond that is so by
// a rule that is known by name.
package validation
