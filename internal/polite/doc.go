// Package polite decides when a host may be asked, and by whom: the gap between
// two requests, the order of a host's line, the time promised to a waiter, and
// back-off. Everything in it is arithmetic: it reads no clock, draws no random
// numbers (jitter is a hash of a seed) and does no I/O. The store's gate keeps the
// numbers and carries the decisions out.
package polite
