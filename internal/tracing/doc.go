// Package tracing sends traces of what a worker does to where OpenTelemetry's standard
// variables say, if they say so: an activity is a span, and so is the request to a site in it.
//
// A trace is one visit of a page. Its activities run in whichever process takes them, hours
// apart if the host's line is long, and nothing is handed from one to the next: all of them
// make the trace's id from the page and the visit's number. So histories are as without traces,
// and no trace lasts for the years that a page does.
package tracing
