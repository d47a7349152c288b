// Package schedule decides when a page is visited again, and says why. Every
// decision is a pure function of what is passed in: no clock, no randomness, no
// I/O. What looks random (the jitter) is a hash of the page and the visit.
//
// A [Policy] turns what a visit saw into an interval. [AfterVisit] puts the
// policy into the life of a page: which state an outcome leads to, and how long
// failing, gone or excluded pages are left alone. [Explain] says of a page that
// sleeps why it sleeps so long.
//
// Some policies are rules of papers, as printed, or with the departures that
// their comments name:
//
//   - fixed ([Fixed]): every page at the same interval.
//   - frmax ([FRMax]): Bouras, Pouloupoulos and Thanou, "Creating a polite,
//     adaptive and selective incremental crawler", §3.2, 3.3 and 5.
//   - deltat ([DeltaT]): Singhal, Dixit and Sharma, "Design of a priority based
//     frequency regulated incremental crawler", eq. 1 and 2.
//
// The others ([Budgeted]) share a budget of visits: sqrt, fresh, age and harmonic
// are one mechanism with another [Objective] each. What is known of a page's rate
// of change is a [Gamma] belief, and the page is due when a visit is worth a
// threshold that is the same for all pages ([Due]). Maintenance moves the
// threshold ([MoveThreshold]), the prices of hosts that are full
// ([MoveHostPrice]) and the priors of hosts ([Population]), and wakes the sleepers
// that gain most by it ([Reschedule]).
//
// Package gamma has the mathematics that policies are made of. Package sim/optimum
// divides a budget among pages of known rates; the policies are compared with it.
//
// In the mathematics rates are changes a day and times are days, as float64; at
// the edges times are time.Duration.
package schedule
