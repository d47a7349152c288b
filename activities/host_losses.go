package activities

import (
	"net/http"
	"sync"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// maxHostLosses bounds the hosts that a process remembers. At the bound it forgets them all: then
// a site in trouble is known a little later.
const maxHostLosses = 4096

// hostLosses remembers, in one process, how each host answered last. A site in trouble says 404 of
// all its pages, or sends all of them to one place; a dead link is mostly alone.
type hostLosses struct {
	mu    sync.Mutex
	hosts map[int64]*hostAnswers
}

// hostAnswers are the last answers of a host.
type hostAnswers struct {
	content bool   // it has had pages
	last    string // how the last page was lost, "" if it was not
	again   bool   // the one before was lost in the same way
	page    int64  // the last one, and its visit
	visit   int
}

// note notes a visit's answer, and reports whether a host that has had pages has lost this one
// just like the one before. It may be told of a visit several times.
func (h *hostLosses) note(page store.PageRecord, visit int, f contract.FetchOut) (lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.hosts[page.HostID]
	if at == nil {
		if h.hosts == nil || len(h.hosts) >= maxHostLosses {
			h.hosts = map[int64]*hostAnswers{}
		}
		at = &hostAnswers{}
		h.hosts[page.HostID] = at
	}
	if f.Outcome.Observes() {
		*at = hostAnswers{content: true}
		return false
	}
	how := lossOf(f)
	if how == "" {
		return false
	}
	if at.page != page.PageID || at.visit != visit {
		at.again, at.last, at.page, at.visit = at.last == how, how, page.PageID, visit
	}
	return at.content && at.again
}

// lossOf is how a page was lost, perhaps for a while: "" if it was not.
func lossOf(f contract.FetchOut) string {
	switch {
	case f.Outcome == crawl.OutcomeGone && f.Status == http.StatusNotFound:
		return "404"
	case f.Outcome == crawl.OutcomeRedirected && !f.Respelled && !permanent(f.Status):
		return f.Location
	}
	return ""
}
