package main

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

const prose = `<p>High water comes twice a day at this coast, and low water twice. Boats leave with the ebb, and the ferry to the island does not run when the wind is strong.`

// pages are a folder: an edit, a stamp, a return of an earlier text, and equal bytes.
var pages = map[string]string{
	"pairs.jsonl": `{"url":"https://a.test/1","before":"pairs/1-before.html","after":"pairs/1-after.html","unix_before":1,"unix_after":2,"kind":"natural"}
{"url":"https://a.test/2","before":"pairs/2-before.html","after":"pairs/2-after.html","unix_before":1,"unix_after":2,"kind":"natural","curators":"same"}
{"url":"https://a.test/3","before":"pairs/1-before.html","after":"pairs/3-after.html","unix_before":1,"unix_after":2,"kind":"natural","curators":"same"}
`,
	"visits.jsonl": `{"url":"https://a.test/4","visits":[{"file":"pairs/1-before.html","unix":1},{"file":"visits/1.html","unix":2},{"file":"visits/2.html","unix":3}]}
`,
	"pairs/1-before.html": prose + `<p>The ticket costs 12 euro`,
	"pairs/1-after.html":  prose + `<p>The ticket costs 15 euro`,
	"pairs/2-before.html": prose + `<p>Last updated: 4 March 2026`,
	"pairs/2-after.html":  prose + `<p>Last updated: 5 March 2026`,
	"pairs/3-after.html":  prose + `<p>The ticket costs 12 euro`,
	"visits/1.html":       prose + `<p>The ticket costs 15 euro`,
	"visits/2.html":       prose + `<p>The ticket costs 12 euro`,
}

func TestChanges(t *testing.T) {
	packed, plain := t.TempDir(), t.TempDir()
	pack(t, packed)
	if err := os.CopyFS(plain, memory()); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"files": plain, "an archive": packed} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			earlier := filepath.Join(out, "earlier")
			if err := os.WriteFile(earlier, []byte("pairs: natural\tpairs/2-after.html\tchanged\thttps://a.test/2\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			f := changesFlags{dir: dir, lists: dir, against: earlier, left: filepath.Join(out, "left"), verdicts: filepath.Join(out, "verdicts")}
			var b bytes.Buffer
			if err := f.measure(&b); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				"pairs: natural, no curators", "pairs: natural, curators say same",
				"natural pairs whose bytes differ: 2, called changed without a curators' record: 1 (50.0 %)",
				"changes on consecutive snapshots: 1, to a text of the 12 snapshots before: 0 (0.0 %)",
				"pairs/2-after.html\tchanged -> cosmetic", "pairs/1-after.html\tnot there -> changed", "5 verdicts moved",
			} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is missing in:\n%s", want, &b)
				}
			}
			if left := read(t, f.left); !strings.Contains(left, "- Last updated: 4 March 2026") || !strings.Contains(left, "+ Last updated: 5 March 2026") || strings.Contains(left, "euro") {
				t.Errorf("left out: %s", left)
			}
			if verdicts := read(t, f.verdicts); !strings.Contains(verdicts, "visits\tvisits/2.html\treturned\t") {
				t.Errorf("verdicts: %s", verdicts)
			}
		})
	}
}

// An archive writes nothing outside of its folder.
func TestUnpackStaysInside(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, archiveName), map[string]string{"../outside.html": "x"})
	if _, _, err := unpacked(dir); err == nil {
		t.Error("no error")
	}
}

func pack(t *testing.T, dir string) {
	t.Helper()
	files := map[string]string{}
	for name, text := range pages {
		if filepath.Ext(name) == ".html" {
			files["./"+name] = text
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, archiveName), files)
}

// write makes a compressed archive.
func write(t *testing.T, archive string, files map[string]string) {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(archive, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func memory() fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range pages {
		files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return files
}
