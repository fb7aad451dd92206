// SPDX-License-Identifier: Apache-2.0

// Package sizes has the validation of Kubernetes' API server judge what pkg/sizes holds to be legal: whatever it resizes a
// running Pod to is accepted.
package sizes
