// Package schedule decides when a page is visited again, and says why. Every
// decision is a pure function of what is passed in: no clock, no randomness, no
// I/O. What looks random (the jitter) is a hash of the page and the visit.
//
// A [Policy] turns what a visit saw into an interval. [AfterVisit] puts the
// policy into the life of a page: which state an outcome leads to, and how long
// failing, gone or excluded pages are left alone.
//
// Policies are rules of papers, as printed, or with the departures that their
// comments name:
//
//   - fixed: every page at the same interval.
//   - frmax: Bouras, Pouloupoulos and Thanou, "Creating a polite, adaptive and
//     selective incremental crawler", §3.2.
package schedule
