package fts

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"recrawl/internal/search"
)

// Query implements search.Index.
func (x *Index) Query(ctx context.Context, q search.Query) (r search.Result, err error) {
	terms := search.TermsOf(q.Words)
	if len(terms) == 0 {
		return r, nil
	}
	err = x.read(ctx, func(conn *sql.Conn) error {
		if has, err := hasWords(ctx, conn, q.Crawl); err != nil || !has {
			return err
		}
		var err error
		r, err = search.Answer(q, terms, search.Asking{
			All:  func(q search.Query) (search.Result, error) { return find(ctx, conn, q, match(terms, " ")) },
			Any:  func(some []search.Term) (search.Result, error) { return find(ctx, conn, q, match(some, " OR ")) },
			Rare: func() ([]search.Term, error) { return rare(ctx, conn, q.Crawl, terms) },
		})
		return err
	})
	return r, err
}

// match writes terms as FTS5 reads them. No character of a word has a meaning there.
func match(terms []search.Term, between string) string {
	texts := make([]string, len(terms))
	for i, t := range terms {
		texts[i] = `"` + t.Word + `"`
		if t.Prefix {
			texts[i] += "*"
		}
	}
	return strings.Join(texts, between)
}

// rare asks how many pages have each term, and chooses.
func rare(ctx context.Context, conn *sql.Conn, crawl int64, terms []search.Term) ([]search.Term, error) {
	var all int
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM docs WHERE crawl = ?", crawl).Scan(&all); err != nil {
		return nil, err
	}
	pages := make([]int, len(terms))
	for i, t := range terms {
		where, args := "term = ?", []any{t.Word}
		if t.Prefix {
			where, args = "term >= ? AND term < ?", []any{t.Word, t.Word + "\U0010FFFF"}
		}
		err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT COALESCE(SUM(doc), 0) FROM terms_%d WHERE %s", crawl, where), args...).Scan(&pages[i])
		if err != nil {
			return nil, err
		}
		if most := search.RareMost(all); t.Prefix && pages[i] > most { // a page counted for each word that begins so
			found := 0
			query := fmt.Sprintf("SELECT COUNT(*) FROM (SELECT 1 FROM words_%[1]d WHERE words_%[1]d MATCH ? LIMIT ?)", crawl)
			if err := conn.QueryRowContext(ctx, query, match(terms[i:i+1], ""), most+1).Scan(&found); err != nil {
				return nil, err
			}
			if found <= most {
				pages[i] = found
			}
		}
	}
	return search.Rare(terms, pages, all), nil
}

// find reads pages, best first, until there are enough when copies are folded.
func find(ctx context.Context, conn *sql.Conn, q search.Query, words string) (search.Result, error) {
	where, args := "", []any{words}
	if q.Host != "" {
		where, args = where+" AND d.host = ?", append(args, q.Host)
	}
	if q.Prefix != "" {
		where, args = where+" AND substr(d.url, 1, length(?)) = ?", append(args, q.Prefix, q.Prefix)
	}
	query := fmt.Sprintf(`SELECT page, version, url, title, digest, score FROM (
    SELECT d.page, d.version, d.url, d.title, d.digest, -bm25(words_%[1]d, %[2]d, %[3]d, 1) * d.boost AS score
    FROM words_%[1]d CROSS JOIN docs d ON d.crawl = %[1]d AND d.page = words_%[1]d.rowid WHERE words_%[1]d MATCH ?%[4]s LIMIT %[5]d
) ORDER BY score DESC, page LIMIT ?`, q.Crawl, search.TitleWeight, search.HeadingsWeight, where, q.MostRanked())
	offset, limit := q.Window()
	for most := 2*(offset+limit) + 10; ; most *= 10 {
		var found []search.Found
		err := each(ctx, conn, func(row *sql.Rows) error {
			var f search.Found
			err := row.Scan(&f.Page, &f.Version, &f.URL, &f.Title, &f.Digest, &f.Score)
			found = append(found, f)
			return err
		}, query, append(args[:len(args):len(args)], most)...)
		if err != nil {
			return search.Result{}, err
		}
		hits, more, enough := search.Fold(q, found)
		if enough || len(found) < most {
			return resultOf(ctx, conn, q.Crawl, hits, more)
		}
	}
}

// resultOf counts the copies of hits.
func resultOf(ctx context.Context, conn *sql.Conn, crawl int64, hits []search.Found, more bool) (search.Result, error) {
	r := search.Result{More: more}
	for _, h := range hits {
		if h.Digest != "" {
			if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) - 1 FROM docs WHERE crawl = ? AND digest = ? AND digest <> ''", crawl, h.Digest).Scan(&h.Copies); err != nil {
				return r, err
			}
		}
		r.Hits = append(r.Hits, h.Hit)
	}
	return r, nil
}
