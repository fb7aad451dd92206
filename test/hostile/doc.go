// SPDX-License-Identifier: Apache-2.0

// Package hostile holds the built programs to what SECURITY.md promises: that no member, no tenant and no registrar harms
// anybody else.
//
//	users ──► metrics-adapter ──┐        ┌─► honest members
//	  │       controller-manager├─► hub ─┤
//	  └─────► webhook ──────────┘        └─► byzantine members
//	judged: every answer, its time; memory, goroutines and connections; what is scaled
//
// Hub and members are simulated, so that it starts in seconds. While one of the adversaries does what it can, users go on asking, and each
// answer is compared with the truth. The hostile cluster itself may be silent; then it must be named.
package hostile
