package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	// mentionPages is how many page ids one transaction of ForgetMentions looks through.
	mentionPages = 200
	// mentionRows is how many rows it collects before it removes them and looks on. The
	// caller's work for the pages costs much less for many at a time.
	mentionRows = 1000
	// mentionRecords is how many visits, or versions, one statement looks through. A page that is
	// visited often has many, far apart in a table: all at once, they would take longer than a
	// statement may.
	mentionRecords = 5000
)

// forgottenPage takes the place of a forgotten URL in the text of a reason.
const forgottenPage = "a forgotten page"

// ForgetMentions implements store.Takedown. Nothing relates a page to those that named it in the
// past, so it looks through all records of visits and versions: by ranges of page ids, in
// reading transactions. It writes the rows that it has found, and no others.
func (s *Store) ForgetMentions(ctx context.Context, t store.Target, after int64, limit int, before func(context.Context, []crawl.PageRef) error) (next int64, more bool, err error) {
	t, _, err = s.targetTombstone(t)
	if err != nil {
		return after, false, fmt.Errorf("forget mentions: %w", err)
	}
	var found []mention
	end, more := after+int64(limitOr(limit)), true
	for at := after; more && after < end; {
		through := min(end, at+mentionPages)
		some, last, err := s.findMentions(ctx, t, at, through)
		if err != nil {
			return after, true, fmt.Errorf("forget mentions of %s%s: %w", t.URL, t.Host, err)
		}
		at, more, found = through, through < last, append(found, some...)
		if more && at < end && len(found) < mentionRows {
			continue
		}
		if err := s.removeMentions(ctx, found, before); err != nil {
			return after, true, fmt.Errorf("forget mentions of %s%s: %w", t.URL, t.Host, err)
		}
		after, found = at, found[:0]
	}
	return after, more, nil
}

// mention is a row that named a target, with what it says from now on.
type mention struct {
	table             string
	page              int64
	visit             int
	location, reasons string // of visits
}

// findMentions looks through the pages after one id and up to another. It also returns the
// highest id of all.
func (s *Store) findMentions(ctx context.Context, t store.Target, after, through int64) (found []mention, last int64, err error) {
	found, err = read(ctx, s, func(tx Tx) ([]mention, error) {
		var all []mention
		if err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM pages`, nil, &last); err != nil {
			return nil, err
		}
		parts, err := partsOf(ctx, tx, after, through)
		for _, part := range parts {
			if err == nil {
				err = s.findInVisits(ctx, tx, t, part, &all)
			}
			if err == nil {
				err = s.findInVersions(ctx, tx, t, part, &all)
			}
		}
		return all, err
	})
	return found, last, err
}

// findInVisits adds the visits of a part that name the target.
func (s *Store) findInVisits(ctx context.Context, tx Tx, t store.Target, part recordPart, all *[]mention) error {
	_, bare, _ := strings.Cut(t.URL, "://")
	query := fmt.Sprintf(`SELECT v.page_id, v.visit, v.location, v.reasons FROM visits v WHERE %s
		AND (v.location LIKE $%d ESCAPE '!' OR v.reasons LIKE $%d ESCAPE '!')`, part.which, len(part.args)+1, len(part.args)+2)
	args := slices.Concat(part.args, []any{likely(bare + t.Host), likely(inJSON(bare + t.Host))})
	return tx.Query(ctx, query, args, func(row Row) error {
		m := mention{table: "visits"}
		if err := row.Scan(&m.page, &m.visit, &m.location, &m.reasons); err != nil {
			return err
		}
		named, err := s.strip(&m, t)
		if named {
			*all = append(*all, m)
		}
		return err
	})
}

// findInVersions adds the versions of a part that name the target.
func (s *Store) findInVersions(ctx context.Context, tx Tx, t store.Target, part recordPart, all *[]mention) error {
	_, bare, _ := strings.Cut(t.URL, "://")
	query := fmt.Sprintf(`SELECT v.page_id, v.visit, v.canonical FROM versions v WHERE %s AND v.canonical LIKE $%d ESCAPE '!'`,
		part.which, len(part.args)+1)
	return tx.Query(ctx, query, slices.Concat(part.args, []any{likely(bare + t.Host)}), func(row Row) error {
		m, canonical := mention{table: "versions"}, ""
		err := row.Scan(&m.page, &m.visit, &canonical)
		if s.names(canonical, t) {
			*all = append(*all, m)
		}
		return err
	})
}

// recordPart chooses some of the visits, or of the versions v, of pages.
type recordPart struct {
	which string
	args  []any
}

// partsOf divides the records of the pages after one id and up to another, so that no part has more than
// mentionRecords. Visits are numbered, and a version is one of a visit.
func partsOf(ctx context.Context, tx Tx, after, through int64) (parts []recordPart, err error) {
	from, sum := after, int64(0)
	cut := func(to int64) {
		if to > from {
			parts = append(parts, recordPart{`v.page_id > $1 AND v.page_id <= $2`, []any{from, to}})
		}
		from, sum = to, 0
	}
	query := `SELECT page_id, visit FROM frontier WHERE page_id > $1 AND page_id <= $2 ORDER BY page_id`
	err = tx.Query(ctx, query, []any{after, through}, func(row Row) error {
		var page, visits int64
		if err := row.Scan(&page, &visits); err != nil {
			return err
		}
		if sum+visits > mentionRecords {
			cut(page - 1)
		}
		if sum += visits; visits <= mentionRecords {
			return nil
		}
		for first := int64(1); first <= visits; first += mentionRecords {
			last := first + mentionRecords - 1
			if last >= visits {
				last = math.MaxInt32 // a version may be of the next visit
			}
			parts = append(parts, recordPart{`v.page_id = $1 AND v.visit >= $2 AND v.visit <= $3`, []any{page, first, last}})
		}
		from, sum = page, 0
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("how often pages were visited: %w", err)
	}
	cut(through)
	return parts, nil
}

// strip removes a target from a visit, and reports whether it was there.
func (s *Store) strip(m *mention, t store.Target) (was bool, err error) {
	if s.names(m.location, t) {
		m.location, was = "", true
	}
	if m.reasons == "" {
		return was, nil
	}
	var reasons []crawl.Reason
	if err := json.Unmarshal([]byte(m.reasons), &reasons); err != nil {
		return was, fmt.Errorf("decode the reasons of visit %d of page %d: %w", m.visit, m.page, err)
	}
	for i := range reasons {
		words := strings.Split(reasons[i].Text, " ")
		for n, word := range words {
			if url := strings.TrimRight(word, ".,;:)"); s.names(url, t) {
				words[n], was = forgottenPage+word[len(url):], true
			}
		}
		reasons[i].Text = strings.Join(words, " ")
	}
	m.reasons = jsonText(reasons)
	return was, nil
}

// removeMentions stores the rows without the mentions, after the caller has done its part for
// their pages.
func (s *Store) removeMentions(ctx context.Context, found []mention, before func(context.Context, []crawl.PageRef) error) error {
	if len(found) == 0 {
		return nil
	}
	pages, err := s.mentioningPages(ctx, found)
	if err != nil {
		return err
	}
	if err := before(ctx, pages); err != nil {
		return err
	}
	for first := 0; first < len(found); first += forgottenRows {
		_, err := write(ctx, s, func(tx Tx) (struct{}, error) {
			for _, m := range found[first:min(first+forgottenRows, len(found))] {
				query, args := `UPDATE versions SET canonical = '' WHERE page_id = $1 AND visit = $2`, []any{m.page, m.visit}
				if m.table == "visits" {
					query, args = `UPDATE visits SET location = $3, reasons = $4 WHERE page_id = $1 AND visit = $2`, append(args, m.location, m.reasons)
				}
				if err := tx.Queue(ctx, query, args...); err != nil {
					return struct{}{}, err
				}
			}
			return struct{}{}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mentioningPages are the pages whose rows were found, each once.
func (s *Store) mentioningPages(ctx context.Context, found []mention) ([]crawl.PageRef, error) {
	ids := make([]int64, len(found))
	for i, m := range found {
		ids[i] = m.page
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return read(ctx, s, func(tx Tx) ([]crawl.PageRef, error) { return s.loadRefs(ctx, tx, ids) })
}

// names reports whether a text is a URL of a target.
func (s *Store) names(text string, t store.Target) bool {
	u, err := urlkey.Canonical(text)
	if err != nil {
		return false
	}
	if t.URL != "" {
		return clean(u.String()) == t.URL
	}
	host := clean(u.HostKey())
	return host == t.Host || s.grouping.Unit(host) == t.Host
}

// inJSON is a text as it is within a JSON string.
func inJSON(text string) string {
	quoted := jsonText(text)
	return quoted[1 : len(quoted)-1]
}

// likely is a pattern of LIKE for texts that contain another.
func likely(text string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(text) + "%"
}

// Forgotten implements store.Takedown.
func (s *Store) Forgotten(ctx context.Context, url string) (bool, error) {
	var left string
	_, err := glance(ctx, s, func(tx Tx) (struct{}, error) {
		return struct{}{}, tx.Pipeline(ctx, s.unlessForgotten(url, &left))
	})
	if err != nil {
		return false, fmt.Errorf("look whether %s is forgotten: %w", url, err)
	}
	return left == "" && url != "", nil
}

// unlessForgotten reads whether a URL, or its host, has a tombstone: then it must not come back
// in the record of a page that leads there. It does not wait for a tombstone that is being set.
func (s *Store) unlessForgotten(text string, url *string) Step {
	*url = text
	u, err := urlkey.Canonical(text)
	host := clean(u.HostKey())
	list := []tombstone{newTombstone(tombURL, clean(u.String())), newTombstone(tombHost, host), newTombstone(tombHost, s.grouping.Unit(host))}
	if err != nil {
		list = []tombstone{}
	}
	query := `SELECT t.kind FROM ` + s.records(1, "r", "kind bigint", "hash text") + ` CROSS JOIN forgotten t
		WHERE t.kind = r.kind AND t.hash = ` + s.engine.Dialect().Unhex("r.hash")
	return Step{Query: query, Args: []any{jsonText(list)}, Scan: func(Row) error {
		*url = ""
		return nil
	}}
}
