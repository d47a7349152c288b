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
		r, err = search.Answer(q, terms, search.Asking{
			All:  func(q search.Query) (search.Result, error) { return find(ctx, tx, q, terms, " & ") },
			Any:  func(some []search.Term) (search.Result, error) { return find(ctx, tx, q, some, " | ") },
			Rare: func() ([]search.Term, error) { return rare(ctx, tx, q.Crawl, terms) },
		})
		return err
	})
	return r, err
}

// rare chooses the terms that tell pages apart. Counting all pages with a common term takes
// long, so it counts only as far as needed to tell common terms from rare ones or, if none
// is rare, to find the rarest.
func rare(ctx context.Context, tx querier, crawl int64, terms []search.Term) ([]search.Term, error) {
	var all int
	if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM "+vectors(crawl)).Scan(&all); err != nil {
		return nil, err
	}
	pages := make([]int, len(terms))
	for most := search.RareMost(all) + 1; ; most *= 4 {
		present, known := false, false
		for i := range terms {
			err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM (SELECT FROM "+vectors(crawl)+" WHERE words @@ $1::text::tsquery LIMIT $2) AS counted",
				queryOf(terms[i:i+1], ""), most).Scan(&pages[i])
			if err != nil {
				return nil, err
			}
			present = present || pages[i] > 0
			known = known || pages[i] > 0 && pages[i] < most
		}
		if known || !present || most > all {
			return search.Rare(terms, pages, all), nil
		}
	}
}

// weights are the weights of D, C, B and A: of the text, of nothing, of headings and of the
// title.
var weights = []float32{1. / search.TitleWeight, 0, float32(search.HeadingsWeight) / search.TitleWeight, 1}

// find finds the pages that have some terms, all or any of them as between says.
func find(ctx context.Context, tx querier, q search.Query, terms []search.Term, between string) (search.Result, error) {
	chosen := choiceOf(q)
	query, args := findRows(q, chosen), []any{chosen.among(queryOf(terms, between)), weights, queryOf(terms, " | "), 0}
	if chosen.prefix != "" {
		args = append(args, chosen.prefix)
	}
	offset, limit := q.Window()
	for most := 2*(offset+limit) + 10; ; most *= 10 { // until there are enough when copies are folded
		args[3] = most
		var found []search.Found
		err := each(ctx, tx, func(row pgx.Rows) error {
			var f search.Found
			err := row.Scan(&f.Page, &f.Version, &f.URL, &f.Title, &f.Digest, &f.Score)
			found = append(found, f)
			return err
		}, query, args...)
		if err != nil {
			return search.Result{}, err
		}
		hits, more, enough := search.Fold(q, found)
		if enough || len(found) < most {
			return resultOf(ctx, tx, q.Crawl, hits, more)
		}
	}
}

// findRows reads the pages of a tsquery, best first. If there are more than are ranked, the
// most important ones are; only for the best are the shown columns read. A page's worth is
// the sum of its worths for each term, even if it must have them all: in that case ts_rank
// would measure how near to each other they stand, which the vectors do not say. A long
// page has more words of any kind: its rank is divided by the logarithm of its length.
func findRows(q search.Query, chosen choice) string {
	among := ""
	if chosen.prefix != "" {
		among = fmt.Sprintf(" AND EXISTS (SELECT FROM %s d WHERE d.page = v.page AND starts_with(d.url, $5))", docs(q.Crawl))
	}
	return fmt.Sprintf(`
SELECT best.page, d.version, d.url, d.title, COALESCE(d.digest::text, ''), best.score
FROM (
    SELECT page, ts_rank($2::float4[], words, $3::text::tsquery, 1)::float8 * boost AS score
    FROM (SELECT page, boost, words FROM %[2]s v WHERE words @@ $1::text::tsquery%[3]s ORDER BY importance DESC, page LIMIT %[4]d) AS ranked
    ORDER BY score DESC, page LIMIT $4
) AS best JOIN %[1]s d USING (page)
ORDER BY best.score DESC, best.page`, docs(q.Crawl), vectors(q.Crawl), among, q.MostRanked())
}

// resultOf counts the copies of hits.
func resultOf(ctx context.Context, tx querier, crawl int64, hits []search.Found, more bool) (search.Result, error) {
	r := search.Result{More: more}
	var digests []string
	for _, h := range hits {
		r.Hits = append(r.Hits, h.Hit)
		if h.Digest != "" {
			digests = append(digests, h.Digest)
		}
	}
	if len(digests) == 0 {
		return r, nil
	}
	pages := map[string]int{}
	err := each(ctx, tx, func(row pgx.Rows) error {
		var digest string
		var n int
		err := row.Scan(&digest, &n)
		pages[digest] = n
		return err
	}, "SELECT digest::text, COUNT(*) FROM "+docs(crawl)+" WHERE digest = ANY($1::text[]::uuid[]) GROUP BY digest", digests)
	for i, h := range hits {
		r.Hits[i].Copies = max(pages[h.Digest]-1, 0)
	}
	return r, err
}
