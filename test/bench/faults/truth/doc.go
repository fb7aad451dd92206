// SPDX-License-Identifier: Apache-2.0

// Package truth judges answers about a fleet by what its members really
// measured. It asks nobody and reads no clock.
//
//		Answer + what is known ──► Judgement: a Verdict, and why
//
//	  - every Pod in an answer exists, or did a moment ago, and is there once
//	  - its values are those of a measurement that is not too old
//	  - each member is whole in the answer, or named as missing twice: to machines
//	    by the coverage header, and to people by a warning
package truth
