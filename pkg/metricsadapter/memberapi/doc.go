// SPDX-License-Identifier: Apache-2.0

// Package memberapi serves members.fleetscale.io: what the adapter knows of each registered cluster, and what the controller-manager has
// published of it, as objects that can be listed and watched. Nothing is stored:
//
//	what is known now ──► Member (view.go, pure) ──► compared with before ──► numbered changes (history.go)
//	                                                                              │ the last of them, for
//	                      list, get ◄── present objects                           ▼ watches (stream.go)
//
// A resource version is the number of a change, and numbers begin where no other replica's are: with the time of the start. So one of
// another replica, or of before a restart, is recognized, and is too old (410): whoever has it lists again.
package memberapi
