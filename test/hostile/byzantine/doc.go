// SPDX-License-Identifier: Apache-2.0

// Package byzantine is a member cluster that does harm: an API server of its own, with a simulated member behind it that
// knows what would be right.
//
//	Member ──► attack   what it does to requests: one of Attacks, or nothing
//	   │         └ lists, streams, sockets: lies, floods, broken connections
//	   └─────► sim.Member, honest
//
// What an attack leaves alone is answered honestly: first of all the uid of kube-system, which is the probe of our
// programs, and discovery. A cluster that fails these is not asked for more, and so has no chance to do harm.
package byzantine
