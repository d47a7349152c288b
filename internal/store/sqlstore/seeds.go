package sqlstore

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// importKept is how long, in microseconds, the progress of an abandoned import is
// remembered.
const importKept = 90 * 24 * 3600 * 1_000_000

// ImportSeeds implements store.Seeds.
func (s *Store) ImportSeeds(ctx context.Context, p store.ImportParams) (store.ImportResult, error) {
	res, err := s.importSeeds(ctx, p)
	if err != nil {
		return store.ImportResult{}, fmt.Errorf("import seeds of crawl %d: %w", p.CrawlID, err)
	}
	return res, nil
}

func (s *Store) importSeeds(ctx context.Context, p store.ImportParams) (store.ImportResult, error) {
	if len(p.Seeds) > store.ImportBatch {
		return store.ImportResult{}, fmt.Errorf("%d seeds at a time; at most %d", len(p.Seeds), store.ImportBatch)
	}
	links := store.RegisterParams{CrawlID: p.CrawlID}
	for _, seed := range p.Seeds {
		links.URLs = append(links.URLs, store.NewURL{URL: seed.URL, Host: seed.Host, Spelling: seed.Spelling})
	}
	urls, err := s.foundURLs(links)
	if err != nil {
		return store.ImportResult{}, err
	}
	if err := s.markImported(ctx, p.CrawlID); err != nil {
		return store.ImportResult{}, err
	}
	for try := 1; ; try++ {
		res, err := write(ctx, s, func(tx Tx) (store.ImportResult, error) { return s.importSome(ctx, tx, p, urls) })
		if again, failed := s.triesAgain(ctx, links, urls, err); !again || try == vanishedTries {
			return res, cmp.Or(failed, err)
		}
	}
}

// importSome imports a batch in a transaction.
func (s *Store) importSome(ctx context.Context, tx Tx, p store.ImportParams, urls []foundURL) (store.ImportResult, error) {
	done, err := s.withoutForgottenExamples(ctx, tx, p.Import)
	if err != nil {
		return store.ImportResult{}, err
	}
	registered, err := s.registerPortion(ctx, tx, store.RegisterParams{CrawlID: p.CrawlID}, portion{urls: slices.Clone(urls)})
	if err != nil {
		return store.ImportResult{}, err
	}
	left := map[string]bool{}
	for _, u := range registered.left {
		left[u.URL] = true
	}
	res := store.ImportResult{Import: done, Forgotten: slices.Sorted(maps.Keys(left))}
	var keys []crawl.SeedKey
	for _, seed := range p.Seeds {
		if !left[clean(seed.URL)] {
			keys = append(keys, seed.Keys...)
		} else {
			res.Import.Forgotten++
		}
	}
	if err := s.insertSeedKeys(ctx, tx, p.CrawlID, keys); err != nil {
		return store.ImportResult{}, err
	}
	res.Import.New += registered.added
	res.Import.Known += len(p.Seeds) - registered.added - (res.Import.Forgotten - p.Import.Forgotten)
	return res, s.saveImport(ctx, tx, p.CrawlID, p.Source, res.Import)
}

// markImported records that the crawl has imported seeds, before there are any: a
// worker that judges by the crawl of the new generation asks for them.
func (s *Store) markImported(ctx context.Context, crawlID int64) error {
	var imported int64
	_, err := read(ctx, s, func(tx Tx) (int64, error) {
		return 0, tx.QueryRow(ctx, `SELECT imported FROM crawls WHERE id = $1`, []any{crawlID}, &imported)
	})
	if err != nil || imported != 0 {
		return err
	}
	_, err = write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `UPDATE crawls SET imported = 1, generation = generation + 1 WHERE id = $1 AND imported = 0`, crawlID)
	})
	return err
}

// seedKeyRecord is a row of seed_keys.
type seedKeyRecord struct {
	Kind int64  `json:"kind"`
	Hash string `json:"hash"` // in hex
}

func newSeedKeyRecord(k crawl.SeedKey) seedKeyRecord {
	sum := urlHash(clean(k.Text))
	return seedKeyRecord{int64(k.Kind), hex.EncodeToString(sum[:])}
}

// insertSeedKeys adds keys, in their order, and leaves existing ones alone.
func (s *Store) insertSeedKeys(ctx context.Context, tx Tx, crawlID int64, keys []crawl.SeedKey) error {
	if len(keys) == 0 {
		return nil
	}
	seen := make(map[crawl.SeedKey]bool, len(keys))
	rows := make([]seedKeyRecord, 0, len(keys))
	for _, k := range keys {
		if !seen[k] {
			seen[k] = true
			rows = append(rows, newSeedKeyRecord(k))
		}
	}
	slices.SortFunc(rows, func(a, b seedKeyRecord) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Hash, b.Hash))
	})
	query := `INSERT INTO seed_keys (crawl_id, kind, hash)
		SELECT CAST($2 AS BIGINT), r.kind, ` + s.engine.Dialect().Unhex("r.hash") + `
		FROM ` + s.records(1, "r", "kind bigint", "hash text") + `
		WHERE true ON CONFLICT (crawl_id, kind, hash) DO NOTHING`
	if _, err := tx.Exec(ctx, query, jsonText(rows), crawlID); err != nil {
		return fmt.Errorf("insert the keys of seeds: %w", err)
	}
	return nil
}

// addSeedKeys adds the keys of a seed beside an import. The crawl's row is locked.
func (s *Store) addSeedKeys(ctx context.Context, tx Tx, rec store.CrawlRecord, keys []crawl.SeedKey) error {
	if err := s.insertSeedKeys(ctx, tx, rec.ID, keys); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE crawls SET imported = 1, generation = $2 WHERE id = $1`, rec.ID, rec.Generation+1)
	return err
}

// SeedKeys implements store.Seeds.
func (s *Store) SeedKeys(ctx context.Context, crawlID int64, keys []crawl.SeedKey) (map[crawl.SeedKey]bool, error) {
	found := map[crawl.SeedKey]bool{}
	if len(keys) == 0 {
		return found, nil
	}
	byRow := make(map[seedKeyRecord]crawl.SeedKey, len(keys))
	for _, k := range keys {
		byRow[newSeedKeyRecord(k)] = k
	}
	query := `SELECT k.kind, r.hash FROM ` + s.records(1, "r", "kind bigint", "hash text") + ` CROSS JOIN seed_keys k
		WHERE k.crawl_id = ` + ofEach(2, "r.kind") + ` AND k.kind = r.kind AND k.hash = ` + s.engine.Dialect().Unhex("r.hash")
	rows, err := read(ctx, s, func(tx Tx) ([]seedKeyRecord, error) {
		return collect(ctx, tx, query, []any{jsonText(slices.Collect(maps.Keys(byRow))), crawlID}, func(row Row) (r seedKeyRecord, err error) {
			err = row.Scan(&r.Kind, &r.Hash)
			return r, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("seeds of crawl %d: %w", crawlID, err)
	}
	for _, r := range rows {
		found[byRow[r]] = true
	}
	return found, nil
}

func (s *Store) saveImport(ctx context.Context, tx Tx, crawlID int64, source string, i store.Import) error {
	if source == "" {
		return nil
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO imports (crawl_id, source, progress, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (crawl_id, source) DO UPDATE SET progress = excluded.progress, at = excluded.at`, crawlID, source, jsonText(i), now)
	if err != nil {
		return fmt.Errorf("note how far the import has come: %w", err)
	}
	return nil
}

// Import implements store.Seeds.
func (s *Store) Import(ctx context.Context, crawlID int64, source string) (store.Import, error) {
	text, err := read(ctx, s, func(tx Tx) (text string, err error) {
		err = tx.QueryRow(ctx, `SELECT progress FROM imports WHERE crawl_id = $1 AND source = $2`, []any{crawlID, source}, &text)
		return text, err
	})
	var i store.Import
	if err == nil {
		err = json.Unmarshal([]byte(text), &i)
	}
	if err := ignoreNotFound(err); err != nil {
		return store.Import{}, fmt.Errorf("import of crawl %d: %w", crawlID, err)
	}
	return i, nil
}

// Imports implements store.Seeds.
func (s *Store) Imports(ctx context.Context, crawlID int64, limit int) ([]store.ImportRecord, error) {
	query := `SELECT source, progress, at FROM imports WHERE crawl_id = $1 ORDER BY at DESC, source LIMIT $2`
	imports, err := read(ctx, s, func(tx Tx) ([]store.ImportRecord, error) {
		return collect(ctx, tx, query, []any{crawlID, limitOr(limit)}, func(row Row) (i store.ImportRecord, err error) {
			var text string
			var at int64
			if err = row.Scan(&i.Source, &text, &at); err == nil {
				i.At = fromMicros(at)
				err = json.Unmarshal([]byte(text), &i.Import)
			}
			return i, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("imports of crawl %d: %w", crawlID, err)
	}
	return imports, nil
}

// EndImport implements store.Seeds.
func (s *Store) EndImport(ctx context.Context, crawlID int64, source string) error {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return 0, err
		}
		_, err = tx.Exec(ctx, `DELETE FROM imports WHERE crawl_id = $1 AND (source = $2 OR at < $3)`, crawlID, source, now-importKept)
		if err != nil {
			return 0, err
		}
		n, err := tx.Exec(ctx, `UPDATE crawls SET generation = generation + 1 WHERE id = $1`, crawlID)
		if err == nil && n == 0 {
			err = store.ErrNotFound
		}
		return n, err
	})
	if err != nil {
		return fmt.Errorf("end the import of crawl %d: %w", crawlID, err)
	}
	return nil
}
