package activities

import (
	"recrawl/internal/scope"
	"recrawl/internal/urlkey"
)

// Reasons why a crawl never requests a URL, whatever its scope says; see
// scope.ReasonPort too.
const (
	reasonContact  = "no contact"
	reasonLoopback = "loopback"
)

// offLimits says why a crawl never requests a URL, whatever its scope says; its
// reason is "" if it may.
func (a *Activities) offLimits(view *crawlView, u urlkey.URL) scope.Verdict {
	switch {
	case u.BadPort():
		return scope.Verdict{Reason: scope.ReasonPort}
	case u.IsLoopback() && !view.reachesLoopback(u):
		return scope.Verdict{Reason: reasonLoopback, Detail: "another service of this machine: make it a seed, or name its network in fetch.allow_networks"}
	case !u.IsLoopback() && a.contact(view.Spec) == "":
		return scope.Verdict{Reason: reasonContact}
	}
	return scope.Verdict{}
}
