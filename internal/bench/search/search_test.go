package search

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/search/tsvector"
	"recrawl/internal/store/storetest/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	// envDocuments sets the number of documents of the benchmark.
	envDocuments = "RECRAWL_BENCH_DOCUMENTS"

	documentBytes = 3000
	putAtOnce     = 200 // as the sink does
	vocabulary    = 200_000
	askedEach     = 20
)

// documents returns their number: 1 000 000, or 10 000 with -short.
func documents(b *testing.B) int {
	b.Helper()
	text := os.Getenv(envDocuments)
	switch {
	case text != "":
		n, err := strconv.Atoi(text)
		if err != nil || n < 1000 {
			b.Fatalf("%s=%s: give a number from 1000 on", envDocuments, text)
		}
		return n
	case testing.Short():
		return 10_000
	}
	return 1_000_000
}

// engine is one of the two kinds of index.
type engine struct {
	name string
	open func(b *testing.B) (x search.Index, size func() int64)
}

var engines = []engine{
	{"sqlite", func(b *testing.B) (search.Index, func() int64) {
		b.Helper()
		path := filepath.Join(b.TempDir(), fts.Name)
		x, err := fts.Open(b.Context(), path, fts.Options{Store: "s"})
		check(b, err)
		return x, func() (size int64) {
			for _, suffix := range []string{"", "-wal"} {
				if info, err := os.Stat(path + suffix); err == nil {
					size += info.Size()
				}
			}
			return size
		}
	}},
	{"postgres", func(b *testing.B) (search.Index, func() int64) {
		b.Helper()
		dsn := pgtest.DSN(b)
		x, err := tsvector.Open(b.Context(), dsn, tsvector.Options{Store: "s"})
		check(b, err)
		return x, func() (size int64) {
			db, err := sql.Open("pgx", dsn)
			check(b, err)
			defer db.Close()
			_, err = db.ExecContext(b.Context(), "VACUUM (ANALYZE)")
			check(b, err)
			logParts(b, db)
			check(b, db.QueryRowContext(b.Context(), "SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'", tsvector.Schema).Scan(&size))
			return size
		}
	}},
}

// logParts logs the sizes of the tables and indexes.
func logParts(b *testing.B, db *sql.DB) {
	b.Helper()
	rows, err := db.QueryContext(b.Context(), `SELECT c.relname, pg_relation_size(c.oid), COALESCE(pg_total_relation_size(NULLIF(c.reltoastrelid, 0)), 0)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND pg_relation_size(c.oid) > 1 << 20 ORDER BY 1`, tsvector.Schema)
	check(b, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		var own, beside int64
		check(b, rows.Scan(&name, &own, &beside))
		b.Logf("%s: %.1f MB, and %.1f MB beside it", name, float64(own)/(1<<20), float64(beside)/(1<<20))
	}
	check(b, rows.Err())
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// library makes documents whose words are about as rare as those of a language: the word of
// rank r comes about 1/r as often as the first.
type library struct {
	r       *rand.Rand
	harmony float64
	// read counts the bytes of the texts.
	read int64
}

func newLibrary() *library {
	return &library{r: rand.New(rand.NewPCG(3, 4)), harmony: math.Log(vocabulary)}
}

// word returns a word of the vocabulary by its rank.
func word(rank int) string {
	const consonants, vowels = "bcdfghklmnprstvz", "aeiou"
	var text []byte
	for n := rank + 1; n > 0; n /= 80 {
		text = append(text, consonants[n%16], vowels[n/16%5])
	}
	return string(text)
}

func (l *library) rank() int { return int(math.Exp(l.r.Float64()*l.harmony)) - 1 }

func (l *library) words(bytes int) string {
	var text strings.Builder
	for text.Len() < bytes {
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(word(l.rank()))
	}
	return text.String()
}

func (l *library) document(i int) search.Document {
	d := search.Document{
		Crawl: 1, Page: int64(i + 1), Version: 1, URL: fmt.Sprintf("https://host%d.example.com/docs/section/page-%d", i%1000, i), Host: fmt.Sprintf("host%d.example.com", i%1000),
		Title: l.words(40), Headings: []string{l.words(30), l.words(30), l.words(30)}, Text: l.words(documentBytes),
		Digest: fmt.Sprintf("%064x", i), Importance: math.Exp(l.r.NormFloat64()), At: time.Unix(1_780_000_000, 0), Mark: fmt.Sprintf("1.%016x", i),
	}
	if i%10 == 0 {
		d.Text += fmt.Sprintf(" 東京都に住む人々 第%d章", i)
	}
	l.read += int64(len(d.Text))
	return d
}

// queries are typical queries, by what is hard about them.
var queries = []struct {
	name string
	search.Query
}{
	{"a rare word", search.Query{Words: word(50_000)}},
	{"a usual word", search.Query{Words: word(2_000)}},
	{"three usual words", search.Query{Words: word(300) + " " + word(500) + " " + word(700)}},
	{"a word of every third page", search.Query{Words: word(150)}},
	{"a word of nearly all pages", search.Query{Words: word(0)}},
	{"two words of nearly all pages", search.Query{Words: word(0) + " " + word(1)}},
	{"a word of nearly all pages, of one host", search.Query{Words: word(0), Host: "host7.example.com"}},
	{"a word of nearly all pages, below one address", search.Query{Words: word(0), Prefix: "https://host7.example.com/docs/"}},
	{"a word of nearly all pages, URLs that begin alike", search.Query{Words: word(0), Prefix: "https://host7"}},
	{"two characters of Japanese", search.Query{Words: "東京"}},
	{"a question of which no page has all words", search.Query{Words: "how do I " + word(0) + " " + word(1) + " " + word(20_000) + " " + word(30_000)}},
	{"words that are nowhere", search.Query{Words: "nowhere xyzzy"}},
}

// BenchmarkSearch fills an index with documents of 3 kB and queries it. docs/search.md has
// the results.
func BenchmarkSearch(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			n := documents(b)
			x, size := e.open(b)
			defer func() { check(b, x.Close()) }()
			for b.Loop() {
				measure(b, x, size, n)
			}
		})
	}
}

func measure(b *testing.B, x search.Index, size func() int64, n int) {
	b.Helper()
	l := newLibrary()
	filling := fill(b, x, l, n)
	bytes := size()
	b.Logf("%d documents, %d MB of text: %s, %.2f ms a document; %d MB, %.2f times the text", n, l.read>>20, filling.Round(time.Second),
		filling.Seconds()*1000/float64(n), bytes>>20, float64(bytes)/float64(l.read))
	b.ReportMetric(filling.Seconds()*1000/float64(n), "ms/document")
	b.ReportMetric(float64(bytes)/float64(l.read), "index/text")
	for _, q := range queries {
		median, slowest, hits := ask(b, x, q.Query)
		b.Logf("%s: median %s, slowest %s, %d hits on the first page", q.name, median.Round(100*time.Microsecond), slowest.Round(100*time.Microsecond), hits)
	}
	b.Logf("a new importance: %.2f ms a document", weigh(b, x, min(n, 10_000)).Seconds()*1000/float64(min(n, 10_000)))
	began := time.Now()
	for page := range int64(1000) {
		check(b, x.Put(b.Context(), []search.Document{l.document(int(page) * (n / 1000))}))
	}
	b.Logf("replaced one by one: %.2f ms a document", time.Since(began).Seconds())
	began = time.Now()
	check(b, x.Purge(b.Context()))
	b.Logf("purged: %s, %d MB", time.Since(began).Round(100*time.Millisecond), size()>>20)
}

// fill puts documents as the sink does. It measures the index alone.
func fill(b *testing.B, x search.Index, l *library, n int) (took time.Duration) {
	b.Helper()
	for first := 0; first < n; first += putAtOnce {
		var docs []search.Document
		for i := first; i < min(first+putAtOnce, n); i++ {
			docs = append(docs, l.document(i))
		}
		began := time.Now()
		check(b, x.Together(b.Context(), 1, func(x search.Index) error { return x.Put(b.Context(), docs) }))
		took += time.Since(began)
	}
	return took
}

// weigh sets another importance of pages, as the sink does after a ranking.
func weigh(b *testing.B, x search.Index, n int) (took time.Duration) {
	b.Helper()
	for first := 0; first < n; first += putAtOnce {
		importance := map[int64]float64{}
		for i := first; i < min(first+putAtOnce, n); i++ {
			importance[int64(i+1)] = 1 + float64(i)/float64(n)
		}
		began := time.Now()
		check(b, x.Together(b.Context(), 1, func(x search.Index) error { return x.Weigh(b.Context(), 1, importance) }))
		took += time.Since(began)
	}
	return took
}

// ask asks the same again and again: the first answer is the slowest, mostly.
func ask(b *testing.B, x search.Index, q search.Query) (median, slowest time.Duration, hits int) {
	b.Helper()
	q.Crawl = 1
	var took []time.Duration
	for range askedEach {
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		began := time.Now()
		r, err := x.Query(ctx, q)
		took = append(took, time.Since(began))
		cancel()
		check(b, err)
		hits = len(r.Hits)
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)-1], hits
}
