package activities

import (
	"recrawl/internal/scope"
	"recrawl/internal/urlkey"
)

// Reasons why a crawl asks nothing of a URL, whatever its scope says of it; see
// scope.ReasonPort too.
const (
	reasonContact  = "no contact"
	reasonLoopback = "loopback"
)

// offLimits says why a crawl asks nothing of a URL, whatever its scope says of it;
// its reason is "" if it may ask.
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
