// SPDX-License-Identifier: Apache-2.0

// Package mirror keeps what members hold of one kind of object, in a form that
// the caller chooses, for as long as somebody asks for it.
//
//		Ask(member, namespace) ──► feed, one for each namespace of a member, or one of all
//		                             │  list, in pages ─ watch ─ (broken) ─ list …
//		                             └► shelves: objects in order of their names, by namespace
//
//	  - A namespace of a member that nobody asked for in [Options].KeepFor is no
//	    longer watched, and what was known of it is forgotten.
//	  - While many namespaces of a member are asked for, or all at once, they are
//	    followed by one watch, if the member allows it. So watches do not grow with
//	    the namespaces, no object is kept twice, and what is kept is bounded by what
//	    the member has. Then each is followed by itself again. While one takes the
//	    other's place, both are there for half a minute.
//	  - Where [Options].Scope names namespaces, each of them is followed by itself,
//	    however many they are, and nothing else is asked for.
//	  - A first question waits for the first list; others are answered from memory
//	    and wait for nobody.
//	  - A member that cannot be seen keeps the objects that were seen last, until
//	    they are older than [Options].MaxAge.
//	  - A watch that breaks is begun again, after a list, with growing, spread
//	    waits. Meanwhile the objects count as seen for a moment (see grace). A
//	    member that is not ready is not asked, and within seconds once it is.
//	  - A member that does not serve an optional resource has none of it, and is
//	    asked again about once a minute. Of other resources that is a bad answer.
//	  - Lists are read page by page, and only some pages at one time, so that many
//	    members that come or come back at once cost no more memory than few.
//	  - What is known belongs to the [Member] value: another one under the same
//	    name is another cluster.
package mirror
