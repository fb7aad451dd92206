// SPDX-License-Identifier: Apache-2.0

// Package dashboard has a browser open the page of `kubectl fleetscale dashboard`, of a large fleet that a server of the test makes up,
// and, in the long form, of a lab in which a member freezes. The pictures of docs/dashboard.md are taken there:
//
//	go -C test test -count 1 -run FrozenMember ./dashboard -args -screenshots "$PWD/docs/pictures"
//
// It logs in by the form of the page that many share, of a hub that knows one token.
//
// And it asks cmd/dashboard, which serves that page to many, for a real hub: with the tokens of accounts of different rights, and without;
// and in the long form with those of 22 accounts at one time.
//
// It has nothing but tests; without Chromium those of the browser are skipped.
package dashboard
