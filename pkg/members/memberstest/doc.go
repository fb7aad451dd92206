// SPDX-License-Identifier: Apache-2.0

// Package memberstest is what the tests of packages that deal with members stand on: the API server of a member
// without a network, so that it lives in a test's bubble of time; a hub over TLS with registrations; and what
// runs something until a test ends, or waits for what is to come.
package memberstest
