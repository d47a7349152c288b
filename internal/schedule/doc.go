// Package schedule decides when a page is visited again, and gives the reasons. Every
// decision is a pure function of its arguments: no clock, no randomness, no I/O. Jitter
// looks random and is a hash of the page and the visit.
//
// A [Policy] turns the result of a visit into an interval. [AfterVisit] applies the
// policy to the life of a page: it decides the page's next state, and how long
// failing, gone or excluded pages are left alone. [Explain] explains the interval of
// a page that sleeps.
//
// Three policies are rules from papers. Their comments name every departure from the
// paper:
//
//   - fixed ([Fixed]): the same interval for every page.
//   - frmax ([FRMax]): Bouras, Pouloupoulos and Thanou, "Creating a polite,
//     adaptive and selective incremental crawler", §3.2, 3.3 and 5.
//   - deltat ([DeltaT]): Singhal, Dixit and Sharma, "Design of a priority based
//     frequency regulated incremental crawler", eq. 1 and 2.
//
// The other policies ([Budgeted]) share a budget of visits. sqrt, fresh, age and
// harmonic are the same mechanism with different objectives ([Objective]). A page's
// rate of change is known as a belief, a Gamma distribution. A page is due when a visit
// is worth a threshold that is the same for all pages ([Due]). In each round of
// maintenance a [Tally] sums up the pages and moves the values that they share: the
// threshold ([MoveThreshold]), the prices of hosts that are full ([MoveHostPrice]) and
// the priors of hosts ([Population]). [Reschedule] then wakes the sleepers that gain
// most.
//
// An [Outlook] forecasts the same pages under other budgets.
//
// Package gamma has the mathematics. Package sim/optimum computes the best allocation
// for known rates, which tests compare the policies with.
//
// Inside, rates are changes a day and times are days, both float64. At the API, times
// are time.Duration.
package schedule
