// Package testsite is a scripted web on loopback, for the demo and for tests of
// the whole crawler: several hosts with pages that change at known rates, fail,
// move, vanish and return, and hosts that forbid, slow down and throttle.
//
// The content of a page is a pure function of the seed, the host, the path and the time
// since the start (and of the port, in links to other hosts), so that a crawler's findings
// can be compared with the truth. The site writes a log of the requests as it saw them;
// CheckPolite reads rudeness from it.
//
// Attacks are hosts that abuse whoever crawls them, one family a file (attack_*.go),
// and Endless is a web of sites with parts that have no end. Loopback serves both.
package testsite
