// SPDX-License-Identifier: Apache-2.0

// Package oracle compares pkg/sizes with the library of Kubernetes' Vertical Pod Autoscaler (VPA), of which the product
// links nothing: docs/design/own-sizes.md says why. Both are told the same samples, OOM kills, merges and restarts, and have
// to advise the same. TestFaults plants faults in our code and has that comparison find them.
package oracle
