package robots

import "net/http"

// Class is the meaning of an answer to the request for a robots.txt.
type Class uint8

// The classes of answers.
const (
	// Unreachable: everything is disallowed until the file can be had.
	Unreachable Class = iota
	// Parsed: the body decides.
	Parsed
	// AllowAll: there is no robots.txt, everything is allowed.
	AllowAll
	// Redirected: the file is at another place, to be requested next.
	Redirected
)

// MaxHops is the most redirects in a row that are followed.
const MaxHops = 5

func (c Class) String() string {
	return [...]string{"unreachable", "parsed", "allow all", "redirected"}[c]
}

// Classify interprets an answer (RFC 9309 2.3.1) to a request without conditions,
// range or A-IM. status is 0 if there was none; err is the error that broke off the
// exchange, body included, and makes any status unreachable: half a file allows too
// much. location is the redirect's target, "" if there is none, and hops the
// redirects made before.
//
// In two cases the RFC leaves the choice: 429 asks for fewer requests, not for
// more, so it does not mean "unavailable"; a chain of redirects that is too long or
// leads nowhere does.
func Classify(status int, err error, location string, hops int) Class {
	switch {
	case err != nil, besideTheQuestion(status):
		return Unreachable
	case status >= 200 && status <= 299:
		return Parsed
	case status >= 300 && status <= 399 && location != "" && hops < MaxHops:
		return Redirected
	case status >= 300 && status <= 499 && status != http.StatusTooManyRequests:
		return AllowAll
	}
	return Unreachable
}

// besideTheQuestion: the answer is about something other than the file. So we do
// not have the file, and nothing says that there is none.
func besideTheQuestion(status int) bool {
	switch status {
	case http.StatusPartialContent, http.StatusIMUsed, // a part of it, or a difference to another
		http.StatusNotModified, // it equals a copy that we do not have
		http.StatusUseProxy:    // its Location is that of a proxy
		return true
	}
	return false
}
