package tsvector

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"recrawl/internal/search"
)

// Put implements search.Index: one statement for all documents of a crawl.
func (x *Index) Put(ctx context.Context, documents []search.Document) error {
	crawls := lastOf(documents)
	return x.write(ctx, func(q querier) error {
		for _, crawl := range slices.Sorted(maps.Keys(crawls)) { // in one order, so that two never wait for each other
			if err := lock(ctx, q, crawl); err != nil {
				return err
			}
			if err := put(ctx, q, crawl, crawls[crawl]); err != nil {
				return err
			}
		}
		return nil
	})
}

// lastOf returns the documents of each crawl, by page: the last one for each page, since a
// statement writes no row twice.
func lastOf(documents []search.Document) map[int64][]search.Document {
	type id struct{ crawl, page int64 }
	seen := map[id]bool{}
	crawls := map[int64][]search.Document{}
	for _, d := range slices.Backward(documents) {
		if at := (id{d.Crawl, d.Page}); !seen[at] {
			seen[at] = true
			crawls[d.Crawl] = append(crawls[d.Crawl], d)
		}
	}
	for _, of := range crawls {
		slices.SortFunc(of, func(a, b search.Document) int { return cmp.Compare(a.Page, b.Page) })
	}
	return crawls
}

const putRows = `
WITH given AS (
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[], $9::float8[], $10::tsvector[])
        AS n (page, digest, version, url, host, title, mark, importance, boost, words)
), shown AS (
    INSERT INTO %[1]s (page, digest, version, url, host, title, mark)
    SELECT page, NULLIF(digest, '')::uuid, version, url, host, title, mark FROM given
    ON CONFLICT (page) DO UPDATE SET digest = excluded.digest, version = excluded.version, url = excluded.url, host = excluded.host,
        title = excluded.title, mark = excluded.mark
)
INSERT INTO %[2]s (page, importance, boost, words) SELECT page, importance, boost, words FROM given
ON CONFLICT (page) DO UPDATE SET importance = excluded.importance, boost = excluded.boost, words = excluded.words`

func put(ctx context.Context, q querier, crawl int64, documents []search.Document) error {
	n := len(documents)
	pages, versions, words := make([]int64, n), make([]int32, n), make([]pgtype.TSVector, n)
	digests, urls, hosts, titles, marks := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	importance, boosts := make([]float64, n), make([]float64, n)
	for i, d := range documents {
		pages[i], versions[i], words[i] = d.Page, int32(d.Version), vectorOf(search.WordsOf(d), keysOf(d))
		digests[i], urls[i], hosts[i], titles[i], marks[i] = digestOf(d), kept(d.URL), kept(d.Host), kept(d.Title), d.Mark
		importance[i], boosts[i] = d.Importance, search.Boost(d.Importance)
	}
	_, err := q.Exec(ctx, fmt.Sprintf(putRows, docs(crawl), vectors(crawl)), pages, digests, versions, urls, hosts, titles, marks, importance, boosts, words)
	if err != nil && n > 0 {
		return fmt.Errorf("pages %d to %d: %w", pages[0], pages[n-1], err)
	}
	return err
}

// digestOf returns a document's digest in the 16 bytes of a uuid, "" if it has none.
func digestOf(d search.Document) string {
	if d.Digest == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(d.Digest))
	return hex.EncodeToString(sum[:16])
}
