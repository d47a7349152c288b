package export_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

// benchSource is a crawl of pages of about 40 kB, each with a version and two visits
// that found it unchanged.
func benchSource(b *testing.B, pages int) (*exporttest.Memory, int64) {
	b.Helper()
	src, r, size := &exporttest.Memory{}, rand.New(rand.NewPCG(1, 1)), int64(0)
	for i := range pages {
		var body []byte
		for len(body) < 20_000+r.IntN(40_000) {
			body = append(body, exporttest.Body(r)...)
		}
		size += int64(len(body))
		x := exchangeOf(src, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: bench\r\n\r\n", "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
		x.Page, x.URL = int64(i+1), fmt.Sprintf("https://example.com/pages/%d", i)
		x.Digest = src.Put(body)
		x.Version.Digest, x.Version.Bytes = x.Digest, int64(len(body))
		src.Visits = append(src.Visits, x)
		for range 2 {
			x.Visit, x.At, x.Outcome = x.Visit+1, x.At.Add(time.Hour), crawl.OutcomeUnchanged
			src.Visits = append(src.Visits, x)
		}
	}
	return src, size
}

// BenchmarkExport measures the bytes of bodies a second that each format writes. The metric
// of-gzip is the speed as a share of that of gzip alone: the same library writes the same
// bodies to one file, in turn with the export.
func BenchmarkExport(b *testing.B) {
	src, size := benchSource(b, 1000)
	for _, f := range export.Formats() {
		b.Run(string(f), func(b *testing.B) {
			o := options(f)
			o.MaxFile, o.SortMemory = 0, 0
			b.SetBytes(size)
			var alone, whole time.Duration
			for b.Loop() {
				begin := time.Now()
				mustExport(b, src, b.TempDir(), o)
				whole += time.Since(begin)
				b.StopTimer()
				begin = time.Now()
				gzipAlone(b, src)
				alone += time.Since(begin)
				b.StartTimer()
			}
			b.ReportMetric(alone.Seconds()/whole.Seconds(), "of-gzip")
		})
	}
}

// gzipAlone writes all bodies to one gzip file.
func gzipAlone(b *testing.B, src *exporttest.Memory) {
	b.Helper()
	file, err := os.Create(filepath.Join(b.TempDir(), "bodies.gz"))
	if err != nil {
		b.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(file, 6)
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range src.Visits {
		if !x.Found() {
			continue
		}
		body, err := src.Body(b.Context(), x.Version.Digest)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(z, body); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), file.Sync(), file.Close()); err != nil {
		b.Fatal(err)
	}
}
