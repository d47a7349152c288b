// Package report answers people's questions about crawls, pages, visits and
// hosts from the store, as text for a terminal or as JSON Lines for programs.
// Nothing in it writes to the store.
//
// In JSON, times are RFC 3339 in UTC with nine digits of the second (they sort
// as text), durations are text with units ("1m30s"), and what does not exist
// is null. In text, times are relative to the store's clock.
package report
