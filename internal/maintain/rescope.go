package maintain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	// scopeBatch is how many pages are read at a time when a scope has changed, and
	// scopeRounds how many times in a pass: some seconds' work. A crawl of more pages
	// takes several passes.
	scopeBatch  = 1000
	scopeRounds = 50
)

// outOfScope is the start of the rule of a page that the scope excludes.
const outOfScope = "out of scope: "

// ScopeStore is the part of a store that checking a changed scope uses.
type ScopeStore interface {
	store.ScopeLooks
	ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error)
	Now(ctx context.Context) (time.Time, error)
}

// noURL is the rest of that rule for a page whose URL an earlier release took, and this one does not.
const noURL = "no URL by the rules of this release"

// Outside returns, by page id, the rule by which pages of the crawl are outside its scope
// now. Pages inside are left out, and so are undecided ones: a filter program does not
// answer, or a rule asks for the language of the page that led there. Lists are no pages,
// and follow their own rules. A page whose URL is none any more is outside, whatever the
// scope: nothing could be asked for it.
func Outside(ctx context.Context, c Crawl, pages []store.PageRecord) (map[int64]string, error) {
	urls := make([]urlkey.URL, 0, len(pages))
	judged := make([]store.PageRecord, 0, len(pages))
	out := map[int64]string{}
	for _, p := range pages {
		if p.Kind != crawl.KindPage {
			continue
		}
		u, err := urlkey.Canonical(p.URL)
		if err != nil {
			out[p.PageID] = outOfScope + noURL
			continue
		}
		urls, judged = append(urls, u), append(judged, p)
	}
	seen, err := c.Scope(ctx, urls...)
	if err != nil {
		return nil, err
	}
	for i, p := range judged {
		if v := seen.Recheck(urls[i], p.Level, p.Hops); !v.Accept && !v.Undecided {
			out[p.PageID] = outOfScope + v.Reason
		}
	}
	return out, nil
}

// Inside reports whether the crawl's scope certainly takes a page now. Lists are no pages, and
// follow their own rules.
func Inside(ctx context.Context, c Crawl, p store.PageRecord) (bool, error) {
	if p.Kind != crawl.KindPage {
		return true, nil
	}
	u, err := urlkey.Canonical(p.URL)
	if err != nil {
		return false, nil // of an earlier release; see Outside
	}
	seen, err := c.Scope(ctx, u)
	if err != nil {
		return false, err
	}
	v := seen.Recheck(u, p.Level, p.Hops)
	return v.Accept && !v.Undecided, nil
}

// generationMark stands between the digest in a scope's name and the crawl's generation.
const generationMark = "@"

// scopeName is a digest of everything that decides which pages are in the scope of a crawl,
// what they are for, and to whom a robots.txt speaks. If the crawl has imported seeds, its
// generation follows the digest: nothing else shows that there are new ones. It is raised for
// smaller reasons, too.
func scopeName(c Crawl) (string, error) {
	text, err := json.Marshal(c.Spec.Judging())
	if err != nil {
		return "", fmt.Errorf("encode scope: %w", err)
	}
	sum := sha256.Sum256(text)
	name := hex.EncodeToString(sum[:])
	if c.Imported {
		name += generationMark + strconv.FormatInt(c.Generation, 10)
	}
	return name, nil
}

// begin returns the look to go on with, now that the scope has this name. One that began before
// the crawl got more seeds goes on from where it is, and the next begins when it is done:
// seeds that are imported every hour would otherwise keep it among the first pages. After any
// other change the look begins anew.
func begin(look store.ScopeLook, name string) store.ScopeLook {
	was, _, imported := strings.Cut(look.Scope, generationMark)
	now, _, imports := strings.Cut(name, generationMark)
	if look.Scope == name || !look.Done && imported && imports && was == now {
		return look
	}
	return store.ScopeLook{Scope: name}
}

// Rescope checks the pages of a crawl whose scope, purpose or agent has changed since the last
// check.
type Rescope struct {
	Store ScopeStore
	Crawl Crawl
	// Forbidden reports whether robots.txt is known to forbid a page now, or its site to
	// reserve it from the crawl's purpose.
	Forbidden func(ctx context.Context, page crawl.PageRef, now time.Time) (bool, error)
	// Wake tells the workflows of pages that these are due now.
	Wake func(ctx context.Context, pages []store.PageRecord) error
	// Next is called after each batch with pages that were woken, since each costs a signal. It
	// may take its time, and reports whether to go on in this pass.
	Next func(ctx context.Context) (bool, error)
}

// Look wakes the pages that are outside now, to be excluded, and excluded pages that
// are inside again. If there are many, the next pass goes on; for an unchanged scope
// it reads only one row.
func (r Rescope) Look(ctx context.Context) error {
	name, err := scopeName(r.Crawl)
	if err != nil {
		return err
	}
	look, err := r.Store.ScopeLook(ctx, r.Crawl.ID)
	if err != nil || look.Done && look.Scope == name {
		return err
	}
	look = begin(look, name)
	for goOn, round := true, 0; goOn && round < scopeRounds && !look.Done; round++ {
		pages, err := r.Store.ListPages(ctx, store.PageFilter{CrawlID: r.Crawl.ID, States: crawl.LivingStates(), After: look.After, Limit: scopeBatch})
		if err != nil {
			return err
		}
		woken, err := r.wakeMisplaced(ctx, pages)
		if err != nil {
			return err
		}
		if look.Done = len(pages) < scopeBatch; len(pages) > 0 {
			look.After = pages[len(pages)-1].PageID
		}
		// After the pages were woken: if a pass is cut off, the next wakes them again, or
		// others do.
		if err := r.Store.SetScopeLook(ctx, r.Crawl.ID, look); err != nil {
			return err
		}
		if woken > 0 && !look.Done {
			if goOn, err = r.Next(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// wakeMisplaced wakes the pages whose state does not match scope and purpose, and returns
// how many. A page that robots.txt forbids stays excluded.
func (r Rescope) wakeMisplaced(ctx context.Context, pages []store.PageRecord) (int, error) {
	outside, err := Outside(ctx, r.Crawl, pages)
	if err != nil {
		return 0, err
	}
	now, err := r.Store.Now(ctx)
	if err != nil {
		return 0, err
	}
	var wake []int64
	for _, p := range pages {
		if p.Kind != crawl.KindPage {
			continue
		}
		out, excluded := outside[p.PageID] != "", p.State == crawl.Excluded
		if !out && (excluded || len(r.Crawl.Spec.Purpose) > 0) {
			if out, err = r.Forbidden(ctx, p.PageRef, now); err != nil {
				return 0, err
			}
		}
		if out != excluded {
			wake = append(wake, p.PageID)
		}
	}
	woken, err := r.Store.WakePages(ctx, wake)
	if err != nil {
		return 0, err
	}
	return len(woken), r.Wake(ctx, woken)
}
