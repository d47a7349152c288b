package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
)

var errKilled = errors.New("killed")

// killer ends the process at the nth change, seen from the disk.
func killer(n int) func() error {
	return func() error {
		if n--; n < 0 {
			return errKilled
		}
		return nil
	}
}

// An export that is killed at any change of the disk, and again at any while it is
// continued, comes to the same bytes. Until then nothing has its final name.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	for _, f := range export.Formats() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			src, o := exporttest.Crawl(20, exporttest.URLs()[:9], 4), options(f)
			o.MaxFile = 3000
			for _, x := range src.Visits {
				if x.Page == 4 && x.Found() && x.Version.Digest != "" {
					src.Bodies[x.Version.Digest] = []byte("damaged")
				}
			}
			whole := t.TempDir()
			if done := mustExport(t, src, whole, o); done.Damaged == 0 {
				t.Fatal("the damaged body is not asked for")
			}
			want := files(t, whole)
			steps := 0
			if _, err := export.ExportWith(t.Context(), src, t.TempDir(), o, 3, func() error { steps++; return nil }); err != nil || steps < 20 {
				t.Fatalf("%d steps, %v", steps, err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			for n := range steps {
				out := t.TempDir()
				_, err := export.ExportWith(t.Context(), src, out, o, 3, killer(n))
				for kills := 0; err != nil; kills++ {
					if !errors.Is(err, errKilled) || kills > 500 {
						t.Fatalf("killed at step %d of %d, %d times: %v", n, steps, kills, err)
					}
					for name := range files(t, out) {
						if !strings.Contains(name, ".part/") {
							t.Errorf("killed at step %d: %s has its final name", n, name)
						}
					}
					// Each time a little further, so that it ends at some time.
					_, err = export.ExportWith(t.Context(), src, out, o, 3, killer(kills+r.IntN(steps)))
				}
				if !same(t, files(t, out), want) {
					t.Fatalf("killed at step %d of %d", n, steps)
				}
			}
		})
	}
}

// Pages may go while an export is cut off: they are forgotten, or found gone. Of those that it had
// not counted yet it keeps no file.
func TestPagesGoWhileKilled(t *testing.T) {
	t.Parallel()
	for _, f := range []export.Format{export.Dir, export.HTML, export.Text, export.Markdown, export.Chunks, export.Mirror} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			o := options(f)
			steps := 0
			if _, err := export.ExportWith(t.Context(), exporttest.Crawl(20, exporttest.URLs()[:9], 4), t.TempDir(), o, 3, func() error { steps++; return nil }); err != nil {
				t.Fatal(err)
			}
			for n := range steps {
				src, out := exporttest.Crawl(20, exporttest.URLs()[:9], 4), t.TempDir()
				if _, err := export.ExportWith(t.Context(), src, out, o, 3, killer(n)); !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				src.Visits = slices.DeleteFunc(src.Visits, func(x export.Exchange) bool { return x.Page%2 == 0 })
				all := files(t, mustExport(t, src, out, o).Folder)
				for _, line := range jsonLines[indexedPage](t, all["index.jsonl"]) {
					if line.Path != nil {
						delete(all, *line.Path)
					}
				}
				delete(all, "index.jsonl")
				delete(all, "export.json")
				for name := range all {
					t.Errorf("killed at step %d of %d: %s is not listed", n, steps, name)
				}
			}
		})
	}
}

const (
	killFormat = "RECRAWL_TEST_EXPORT_FORMAT"
	killOut    = "RECRAWL_TEST_EXPORT_OUT"
)

const killPages = 1000

func killSource() *exporttest.Memory {
	urls := []string{}
	for i := range killPages {
		urls = append(urls, fmt.Sprintf("https://example.com/%d/%d", i%50, i))
	}
	return exporttest.Crawl(21, urls, 4)
}

// TestMain is the program that TestKill9 kills, if it is asked to be. It writes a dot for
// each page, and then waits for one while its input is open.
func TestMain(m *testing.M) {
	if f := os.Getenv(killFormat); f != "" {
		o := options(export.Format(f))
		o.Progress = func(export.Counts) {
			os.Stdout.WriteString(".")
			_, _ = os.Stdin.Read(make([]byte, 1)) // or its end: it need not wait any more
		}
		if _, err := export.ExportWith(context.Background(), killSource(), os.Getenv(killOut), o, 50, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A process that is killed at random moments and started again comes to the same
// bytes as one that is left alone.
func TestKill9(t *testing.T) {
	t.Parallel()
	rounds := 1
	if os.Getenv("RECRAWL_LONG") != "" {
		rounds = 3
	}
	for _, f := range export.Formats() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			whole := t.TempDir()
			mustExport(t, killSource(), whole, options(f))
			want := files(t, whole)
			r := rand.New(rand.NewPCG(3, 4))
			for range rounds {
				out := filepath.Join(t.TempDir(), "out")
				for range 4 {
					killAfter(t, f, out, 1+r.IntN(killPages/6))
				}
				if text, err := exportProcess(t, f, out).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				same(t, files(t, out), want)
			}
		})
	}
}

// killAfter kills a process that exports, somewhere in the pages after the first few.
func killAfter(t *testing.T, f export.Format, out string, pages int) {
	t.Helper()
	cmd := exportProcess(t, f, out)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	dots, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// It cannot get ahead, however slow we are.
	if _, err := in.Write(bytes.Repeat([]byte("."), pages+20)); err != nil {
		t.Errorf("it ended by itself: %v", err)
	}
	if _, err := io.CopyN(io.Discard, dots, int64(pages)); err != nil {
		t.Errorf("it ended by itself: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("it ended by itself: %v", err)
	}
	_ = cmd.Wait() // says that it was killed
}

func exportProcess(t *testing.T, f export.Format, out string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), killFormat+"="+string(f), killOut+"="+out)
	return cmd
}
