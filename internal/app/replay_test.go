package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"recrawl/internal/cli"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/replay"
)

// TestReplay serves an archive that is made once it is known that it can be played, and ends
// with its context.
func TestReplay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	o := cli.ReplayOptions{
		File: filepath.Join(folder, "news.wacz"), Listen: "127.0.0.1:0", Player: folder, Log: slog.New(slog.DiscardHandler),
		Prepare: func() error {
			e := export.Options{Format: export.WACZ, Crawl: "news", At: exporttest.Start.AddDate(1, 0, 0)}
			done, err := export.Export(t.Context(), exporttest.Crawl(1, exporttest.URLs(), 3), filepath.Join(folder, "export"), e)
			if err != nil {
				return err
			}
			files, err := filepath.Glob(filepath.Join(done.Folder, "*.wacz"))
			if err != nil {
				return err
			}
			return os.Rename(files[0], filepath.Join(folder, "news.wacz"))
		},
	}
	prepare := o.Prepare
	o.Prepare = func() error { t.Error("prepared without a player"); return nil }
	if err := (Backend{}).Replay(t.Context(), o); !errors.Is(err, replay.ErrNoPlayer) {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "sw.js"), []byte("// the player"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	o.Prepare = func() error { return broken }
	if err := (Backend{}).Replay(t.Context(), o); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	o.Prepare = prepare
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, said := io.Pipe()
	o.Out = said
	served := make(chan error, 1)
	go func() {
		served <- Backend{}.Replay(ctx, o)
		said.Close()
	}()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatalf("%v, %v", err, <-served)
	}
	address := regexp.MustCompile(`http://localhost:\d+`).FindString(string(line[:n]))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(page), "Main_Page") {
		t.Errorf("%d, %v: %s", answer.StatusCode, err, page)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
