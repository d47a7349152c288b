// Package sim runs crawlers on worlds of changing pages and measures how stale their
// copies are. It compares the product's own policies, the schedulers that other
// crawlers ship, and allocations that know every page's rate, on the same changes and
// under the same rules:
//
//   - Every page is fetched when it appears, at no cost. Its copy is fresh then.
//   - Visits come in slots, one every 1/M days for a budget of M visits a day. A
//     scheduler says when a page is due, and a slot goes to the page that is due first.
//     The [Mode] decides what happens to a slot when no page is due.
//   - A scheduler learns from its own visits: when they were, how long after the last one,
//     and whether the page had changed. Only clairvoyant policies know more.
//   - Measures are integrated exactly over the time after a warm-up. Nothing is sampled.
//
// Times are days since the start of a world, rates are per day. Results follow from the
// arguments: the same world, seed and options give the same results.
package sim
