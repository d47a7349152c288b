package report

import (
	"context"
	"fmt"
	"strconv"

	"recrawl/internal/store"
)

// TrapsQuery asks for the traps of a crawl.
type TrapsQuery struct {
	Crawl string
	// Prefixes is the number of dominating prefixes to list.
	Prefixes int
}

// TrapLine is a part of a site that seems to have no end.
type TrapLine struct {
	Trap    string `json:"trap"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail"`
	State   string `json:"state"`
	Held    int    `json:"held"`
	FoundAt stamp  `json:"found_at"`
}

// PrefixLine counts the pages found below a path of a host.
type PrefixLine struct {
	Prefix string `json:"prefix"`
	Pages  int    `json:"pages"`
}

var trapStates = map[store.TrapState]string{
	store.TrapSweeping: "holding", store.TrapHolding: "holding", store.TrapReleasing: "releasing", store.TrapReleased: "released",
}

// Traps writes the traps of a crawl, and the hosts and prefixes where most pages were
// found.
func (r Reporter) Traps(ctx context.Context, q TrapsQuery) error {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return err
	}
	t := newTable(r.Out, "TRAP", "HELD", "STATE", "REASON", "FOUND", "DETAIL")
	found := 0
	filter := store.TrapFilter{CrawlID: record.ID, Limit: batch}
	for {
		traps, err := r.Store.Traps(ctx, filter)
		if err != nil {
			return err
		}
		if len(traps) == 0 {
			break
		}
		for _, k := range traps {
			if r.Format == JSON {
				if err := writeJSON(r.Out, trapLineOf(k)); err != nil {
					return err
				}
				continue
			}
			t.row(k.Name, strconv.Itoa(k.Held), trapStates[k.State], k.Reason, when(k.FoundAt, now), k.Detail)
		}
		found += len(traps)
		filter.After = traps[len(traps)-1].ID
	}
	if r.Format == Text {
		if found == 0 {
			fmt.Fprintln(r.Out, "no traps")
		} else if err := t.flush(); err != nil {
			return err
		}
	}
	return r.dominating(ctx, record.ID, q.Prefixes)
}

func trapLineOf(k store.TrapRecord) TrapLine {
	return TrapLine{Trap: k.Name, Reason: k.Reason, Detail: k.Detail, State: trapStates[k.State], Held: k.Held, FoundAt: stamp(k.FoundAt)}
}

// dominating writes the prefixes where most pages were found.
func (r Reporter) dominating(ctx context.Context, crawlID int64, limit int) error {
	if limit == 0 {
		return nil
	}
	prefixes, err := r.Store.Dominating(ctx, crawlID, limit)
	if err != nil || len(prefixes) == 0 {
		return err
	}
	if r.Format == JSON {
		for _, p := range prefixes {
			if err := writeJSON(r.Out, PrefixLine{p.Host + p.Prefix, p.Pages}); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintln(r.Out)
	t := newTable(r.Out, "PAGES", "HOST OR PREFIX")
	for _, p := range prefixes {
		t.row(strconv.Itoa(p.Pages), p.Host+p.Prefix)
	}
	return t.flush()
}
