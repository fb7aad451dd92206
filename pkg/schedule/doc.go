// SPDX-License-Identifier: Apache-2.0

// Package schedule says when a cron rule runs. Admission and the controller
// share it, so that what is accepted is also what runs.
//
// A rule names minutes of the wall clock of its zone, and that clock is not
// even: it skips an hour in spring and repeats one in autumn. One rule holds
// in every zone: each wall-clock minute that matches runs exactly once.
//
//	the minute is shown    the rule runs
//	once                   then
//	twice (clock set back) the first time
//	never (clock set on)   when the clock is set on; several such minutes
//	                       are one run
//
// The zones come from [time.LoadLocation]. Programs import time/tzdata, so
// that they do not depend on what is installed where they run.
package schedule
