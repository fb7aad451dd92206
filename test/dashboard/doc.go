// SPDX-License-Identifier: Apache-2.0

// Package dashboard has a browser open the page of `kubectl fleetscale dashboard`, of a large fleet that a server of the test makes up.
// It has nothing but tests; without Chromium they are skipped.
package dashboard
