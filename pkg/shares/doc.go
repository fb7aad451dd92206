// SPDX-License-Identifier: Apache-2.0

// Package shares divides a bound among tenants: it says what is to be given up
// when together they hold too much. Whoever holds the most gives up what it has
// not used for the longest; so a tenant within its fair share loses nothing to
// what others do, and where few tenants are there, each may hold much.
//
// What is held, and in which unit it is weighed, is the caller's.
package shares
