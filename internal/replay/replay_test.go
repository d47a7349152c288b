package replay_test

import (
	"archive/zip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/replay"
)

func fileServer(folder string) http.Handler { return http.FileServer(http.Dir(folder)) }

// made writes a WACZ file of a few parts.
func made(t *testing.T, parts map[string]string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.wacz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for part, text := range parts {
		w, err := z.Create(part)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

var parts = map[string]string{
	"datapackage.json": `{"profile":"data-package","title":"<b>A & B</b>","created":"2026-11-21T18:03:38Z"}`,
	"pages/pages.jsonl": `{"format":"json-pages-1.0","id":"pages","title":"All Pages"}
{"url":"https://a.test/","ts":"2026-11-21T18:03:38Z","title":"First <script>","text":"Words within"}
{"url":"javascript:alert(1)","ts":"2026-11-21T18:03:38Z"}
{"url":"https://a.test/?q=1&r=2#f","ts":"2026-11-22T18:03:38Z"}
{"url":"https://a.test/untimed","ts":"yesterday"}
`,
}

func served(t *testing.T) (http.Handler, *replay.Archive, string) {
	t.Helper()
	path := made(t, parts)
	a, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	script := filepath.Join(t.TempDir(), "sw.js")
	if err := os.WriteFile(script, []byte("// the player"), 0o600); err != nil {
		t.Fatal(err)
	}
	return replay.Handler(a, script), a, path
}

func get(h http.Handler, target string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = "localhost:8235"
	for i := 0; i < len(fields); i += 2 {
		if r.Header.Set(fields[i], fields[i+1]); fields[i] == "Host" {
			r.Host = fields[i+1]
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPages(t *testing.T) {
	t.Parallel()
	h, a, _ := served(t)
	body := get(h, "/").Body.String()
	for _, want := range []string{
		"&lt;b&gt;A &amp; B&lt;/b&gt;", "First &lt;script&gt;", `href="#ts=20261121180338&amp;url=https%3A%2F%2Fa.test%2F&amp;view=replay"`,
		`ts=20261122180338&amp;url=https%3A%2F%2Fa.test%2F%3Fq%3D1%26r%3D2%23f`, `data-archive="` + a.ID + `"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s:\n%s", want, body)
		}
	}
	if strings.Contains(body, "alert") || strings.Contains(body, "untimed") {
		t.Errorf("a page that is none:\n%s", body)
	}
	if body := get(h, "/?q=FIRST").Body.String(); !strings.Contains(body, "a.test") || strings.Contains(body, "r%3D2") {
		t.Errorf("found:\n%s", body)
	}
	if body := get(h, "/?q=words+WITHIN").Body.String(); !strings.Contains(body, "a.test") || strings.Contains(body, "r%3D2") {
		t.Errorf("found by its text:\n%s", body)
	}
	if body := get(h, "/?q=nothing%20<").Body.String(); !strings.Contains(body, "No pages with “nothing &lt;”") {
		t.Errorf("found:\n%s", body)
	}
	for _, c := range []struct {
		skip, limit, n int
		more           bool
	}{{0, 1, 1, true}, {1, 1, 1, false}, {1, 5, 1, false}, {9, 1, 0, false}} {
		if pages, more, err := a.Pages(t.Context(), "", c.skip, c.limit); err != nil || len(pages) != c.n || more != c.more {
			t.Errorf("%+v: %v, %v, %v", c, pages, more, err)
		}
	}
}

// It serves the archive by ranges, the player, its own page, and nothing else, to this machine.
func TestServes(t *testing.T) {
	t.Parallel()
	h, a, path := served(t)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := "/archive/" + a.ID + ".wacz"
	if w := get(h, archive); w.Code != http.StatusOK || w.Body.String() != string(want) || w.Header().Get("Accept-Ranges") != "bytes" || w.Header().Get("Content-Length") == "" {
		t.Errorf("whole: %d, %d bytes, %v", w.Code, w.Body.Len(), w.Header())
	}
	if w := get(h, archive, "Range", "bytes=2-5"); w.Code != http.StatusPartialContent || w.Body.String() != string(want[2:6]) {
		t.Errorf("a range: %d, %q", w.Code, w.Body)
	}
	if w := get(h, archive, "Range", "bytes=-3"); w.Body.String() != string(want[len(want)-3:]) {
		t.Errorf("the end: %d, %q", w.Code, w.Body)
	}
	if w := get(h, "/sw.js"); w.Body.String() != "// the player" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("the player: %v", w)
	}
	for target, code := range map[string]int{
		"/assets/replay.js": 200, "/assets/replay.css": 200, "/assets/page.html": 404, "/assets/..%2farchive.go": 404, "/archive/other.wacz": 404,
		"/archive/": 404, "/etc/passwd": 404, "/w/" + a.ID + "/a.test": 303, "/sw.js.map": 404,
	} {
		if w := get(h, target); w.Code != code {
			t.Errorf("%s: %d, want %d", target, w.Code, code)
		}
	}
	for host, code := range map[string]int{"localhost": 200, "127.0.0.1:8235": 200, "[::1]:8235": 200, "evil.example:8235": 421, "127.0.0.1.evil.example": 421, "192.0.2.1": 421} {
		if w := get(h, "/", "Host", host); w.Code != code {
			t.Errorf("as %s: %d, want %d", host, w.Code, code)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/", nil)
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("a POST: %d", w.Code)
	}
}

func TestOpenWhatIsNone(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "text.wacz")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		text: "zip: not a valid zip file",
		made(t, map[string]string{"pages/pages.jsonl": ""}):                          "no datapackage.json",
		made(t, map[string]string{"pages/pages.jsonl": "", "datapackage.json": "["}): "datapackage.json: ",
	} {
		if _, err := replay.Open(path); !errors.Is(err, replay.ErrNone) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := replay.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestFindPlayer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program := filepath.Join(folder, "starter")
	if _, err := replay.FindPlayer("", program); !errors.Is(err, replay.ErrNoPlayer) || !strings.Contains(err.Error(), "make replay") || strings.Contains(err.Error(), "%!") {
		t.Error(err)
	}
	beside := filepath.Join(folder, "replay")
	if err := errors.Join(os.Mkdir(beside, 0o700), os.WriteFile(filepath.Join(beside, "sw.js"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for named, program := range map[string]string{"": program, beside: "/elsewhere/starter"} {
		if path, err := replay.FindPlayer(named, program); err != nil || path != filepath.Join(beside, "sw.js") {
			t.Errorf("%s: %s, %v", named, path, err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "sw.js"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.FindPlayer(folder, program); !errors.Is(err, replay.ErrNoPlayer) || strings.Contains(err.Error(), "%!") {
		t.Error(err)
	}
}
