package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"recrawl/internal/store"
)

const (
	// forgottenAnswer takes the place of a receiver's words about a forgotten page.
	forgottenAnswer = "its words named a forgotten page, and were removed"
	// cutAnswer is the least length of a receiver's words that may have been cut.
	cutAnswer = 190
)

// answerRow is what a receiver said, and where it is kept.
type answerRow struct {
	crawl   int64
	sink    string
	change  int64 // 0 is the sink's last trouble
	problem string
}

// forgetAnswers removes a target from what receivers of changes have answered: those of the
// page's own changes are gone by now, but the sink's last trouble is kept, and an answer may be
// about several changes.
func (s *Store) forgetAnswers(ctx context.Context, tx Tx, t store.Target) error {
	said := newSaid(t)
	var named []answerRow
	query := `SELECT k.crawl_id, k.name, 0, k.problem FROM sinks k WHERE k.crawl_id IN (SELECT c.id FROM crawls c) AND k.problem LIKE $1 ESCAPE '!'
		UNION ALL
		SELECT u.crawl_id, u.sink, u.change_id, u.problem FROM undelivered u WHERE u.crawl_id IN (SELECT c.id FROM crawls c) AND u.problem LIKE $2 ESCAPE '!'`
	err := tx.Query(ctx, query, []any{likely(said.host), likely(said.host)}, func(row Row) error {
		var a answerRow
		err := row.Scan(&a.crawl, &a.sink, &a.change, &a.problem)
		if said.in(a.problem) {
			named = append(named, a)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read answers: %w", err)
	}
	for _, a := range named {
		update, args := `UPDATE sinks SET problem = $3 WHERE crawl_id = $1 AND name = $2`, []any{a.crawl, a.sink, forgottenAnswer}
		if a.change != 0 {
			update, args = `UPDATE undelivered SET problem = $3 WHERE crawl_id = $1 AND sink = $2 AND change_id = $4`, append(args, a.change)
		}
		if err := tx.Queue(ctx, update, args...); err != nil {
			return err
		}
	}
	return nil
}

// said is a target as others may write it: without a scheme, and as in JSON.
type said struct {
	host, url string // url is empty if the whole host is the target
}

func newSaid(t store.Target) said {
	_, url, _ := strings.Cut(t.URL, "://")
	host, _, _ := strings.Cut(url, "/")
	return said{host + t.Host, url}
}

// in reports whether a text names the target, whole or cut at the text's end. Words that name a
// longer URL do not.
func (d said) in(text string) bool {
	if d.url == "" {
		return strings.Contains(text, d.host)
	}
	text = strings.ReplaceAll(text, `\/`, "/")
	for _, url := range []string{d.url, inJSON(d.url)} {
		for _, rest := range strings.Split(text, url)[1:] {
			if !goesOn(rest) {
				return true
			}
		}
		for n := len(url) - 1; len(text) >= cutAnswer && n > len(d.host)+1; n-- {
			if strings.HasSuffix(strings.TrimSuffix(text, "…"), url[:n]) {
				return true
			}
		}
	}
	return false
}

// goesOn reports whether a text begins as the rest of a URL does. A stop, comma or the like ends
// the URL unless a letter follows.
func goesOn(rest string) bool {
	inURL := func(c byte) bool {
		return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("/-_%&=~+", c) >= 0
	}
	if rest != "" && strings.IndexByte(".,;:?!", rest[0]) >= 0 {
		rest = rest[1:]
	}
	return rest != "" && inURL(rest[0])
}
