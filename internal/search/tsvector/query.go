package tsvector

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/search"
)

// Query implements search.Index.
func (x *Index) Query(ctx context.Context, q search.Query) (r search.Result, err error) {
	terms := search.TermsOf(q.Words)
	if len(terms) == 0 {
		return r, nil
	}
	err = x.ofCrawl(ctx, x.read, q.Crawl, func(tx querier) error {
		// For the places of many pages: without it each of them is looked at twice.
		if _, err := tx.Exec(ctx, "SET LOCAL work_mem = '64MB'"); err != nil {
			return err
		}
		r, err = search.Answer(q, terms, search.Asking{
			All:  func(q search.Query) (search.Result, error) { return find(ctx, tx, q, queryOf(terms, " & ")) },
			Any:  func(some []search.Term) (search.Result, error) { return find(ctx, tx, q, queryOf(some, " | ")) },
			Rare: func() ([]search.Term, error) { return rare(ctx, tx, q.Crawl, terms) },
		})
		return err
	})
	return r, err
}

// rare asks how many pages have each term, and chooses.
func rare(ctx context.Context, tx querier, crawl int64, terms []search.Term) ([]search.Term, error) {
	var all int
	if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM "+docs(crawl)).Scan(&all); err != nil {
		return nil, err
	}
	pages := make([]int, len(terms))
	for i := range terms {
		err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM "+docs(crawl)+" WHERE words @@ $1::text::tsquery", queryOf(terms[i:i+1], "")).Scan(&pages[i])
		if err != nil {
			return nil, err
		}
	}
	return search.Rare(terms, pages, all), nil
}

// weights are those of D, C, B and A: of the text, of nothing, of headings and of the title.
var weights = []float32{1. / search.TitleWeight, 0, float32(search.HeadingsWeight) / search.TitleWeight, 1}

// find reads pages, best first, until there are enough when copies are folded. A long page
// has more words of any kind: its rank is divided by the logarithm of its length. Of more
// pages than are ranked, those of most importance are.
func find(ctx context.Context, tx querier, q search.Query, words string) (search.Result, error) {
	where, args := "", []any{words, weights}
	if q.Host != "" {
		args = append(args, kept(q.Host))
		where += fmt.Sprintf(" AND host = $%d", len(args))
	}
	if q.Prefix != "" {
		args = append(args, kept(q.Prefix))
		where += fmt.Sprintf(" AND starts_with(url, $%d)", len(args))
	}
	query := fmt.Sprintf(`SELECT page, version, url, title, digest, ts_rank($2::float4[], words, $1::text::tsquery, 1)::float8 * boost AS score
FROM (SELECT page FROM %[1]s WHERE words @@ $1::text::tsquery%[2]s ORDER BY importance DESC, page LIMIT %[3]d) AS ranked JOIN %[1]s USING (page)
ORDER BY score DESC, page LIMIT $%[4]d`, docs(q.Crawl), where, q.MostRanked(), len(args)+1)
	offset, limit := q.Window()
	for most := 2*(offset+limit) + 10; ; most *= 10 {
		var found []search.Found
		err := each(ctx, tx, func(row pgx.Rows) error {
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
			return resultOf(ctx, tx, q.Crawl, hits, more)
		}
	}
}

// resultOf counts the copies of hits.
func resultOf(ctx context.Context, tx querier, crawl int64, hits []search.Found, more bool) (search.Result, error) {
	r := search.Result{More: more}
	for _, h := range hits {
		if h.Digest != "" {
			if err := tx.QueryRow(ctx, "SELECT COUNT(*) - 1 FROM "+docs(crawl)+" WHERE digest = $1 AND digest <> ''", h.Digest).Scan(&h.Copies); err != nil {
				return r, err
			}
		}
		r.Hits = append(r.Hits, h.Hit)
	}
	return r, nil
}
