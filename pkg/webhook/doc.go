// SPDX-License-Identifier: Apache-2.0

// Package webhook carries package admission to the hub's API server: it gathers
// what the rules need, has them decide, and answers.
//
//	/mutate-federatedhpa, /mutate-cronfederatedhpa      completed, as a patch
//	/validate-federatedhpa, /validate-cronfederatedhpa  allowed or refused, with
//	                                                    every fault at once
//
// What else is on the hub is read from a cache. So nothing here has an effect,
// and a dry run is answered like any other request. Rules live in package
// admission only.
package webhook
