// Package sim plays crawlers against worlds of changing pages and measures how
// stale their copies are. It runs the product's own policies, the schedulers
// that other crawlers ship, and allocations that know every page's rate, all on
// the same changes and under the same rules:
//
//   - Every page is fetched when it appears, at no cost: its copy is fresh then.
//   - Visits come in slots, one every 1/M days for a budget of M visits a day. A
//     scheduler says when a page is due; a slot goes to the page that is due
//     first. What becomes of a slot when no page is due is the [Mode].
//   - A scheduler learns what a visit of its own saw: when, how long after the
//     last one, changed or not. Only those that are marked as clairvoyant know
//     more.
//   - What is measured is integrated exactly over the time after a warm-up, not
//     sampled.
//
// Times are days since the start of a world, rates are per day. Everything is
// decided by the arguments: the same world, seed and options give the same
// results.
package sim
