// SPDX-License-Identifier: Apache-2.0

// Package version says which build of fleetscale a program is. The version of
// Kubernetes' libraries, which is another one, is left to those libraries. Package
// command shows it, and a build sets it by the linker, which needs its name not to change.
package version
