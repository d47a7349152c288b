package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// withVersion is a backend whose page has a version with a body, in a separate
// archive or in that of a folder.
func withVersion(t *testing.T, body string, v store.VersionRecord, dir ...string) *fakeBackend {
	t.Helper()
	b := &fakeBackend{archiveDir: append(dir, t.TempDir())[0]}
	files, err := archive.OpenDir(b.archiveDir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := files.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if v.Digest, _, err = w.Commit(); err != nil {
		t.Fatal(err)
	}
	b.version = v
	return b
}

func TestShowAndDiff(t *testing.T) {
	t.Parallel()
	const body = "<h1>Hello</h1><p>world"
	b := withVersion(t, body, store.VersionRecord{
		Seq: 3, ContentType: "text/html", Heads: store.Heads{Request: "GET / HTTP/1.1\r\n\r\n", Response: "HTTP/1.1 200 OK\r\n\r\n"},
	})
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"show https://example.com/ --version 3", ExitOK, body},
		{"show https://example.com/ --version 3 --text", ExitOK, "Hello\nworld\n"},
		{"show https://example.com/ --version 3 --all", ExitOK, "# Hello\nworld\n"},
		{"show https://example.com/ --all --head", ExitUsage, "can't be used together"},
		{"show https://example.com/ --version 3 --head", ExitOK, "GET / HTTP/1.1\n\nHTTP/1.1 200 OK\n\n"},
		{"show https://example.com/ --version 3 --text --output json", ExitOK, `"view":"text","text":"Hello\nworld\n"}`},
		{"show https://example.com/ --version 2", ExitNotFound, "has no version 2: `starter history --versions` lists them"},
		{"show https://example.com/ --text --head", ExitUsage, "can't be used together"},
		{"show https://example.com/ --version 3 --markdown", ExitOK, "---\nurl: \"https://example.com/\"\n"},
		{"show https://example.com/ --version 3 --markdown --article --output json", ExitOK, `"markdown":"`},
		{"show https://example.com/ --markdown --all", ExitUsage, "can't be used together"},
		{"show https://example.com/ --article", ExitUsage, "give both"},
		{"show https://example.com/ --visit 1 --markdown", ExitUsage, "give --version or --at"},
		{"show https://example.com/ --version 3 --at 2026-03-01", ExitUsage, "can't be used together"},
		{"show https://example.com/ --markdown --at yesterday", ExitUsage, "write a day such as 2026-03-01, or a time such as"},
		{"show https://example.com/ --markdown --at 2020-01-01", ExitNotFound, "has no visit that is kept, at or before 2020-01-01T23:59:59Z"},
		{"show https://example.com/ --at 2020-01-01T12:00:00+02:00", ExitNotFound, "at or before 2020-01-01T10:00:00Z"},
		{"show https://example.com/none", ExitNotFound, "no crawl has the page"},
		{"show https://example.com/two", ExitUsage, "choose one with --crawl"},
		{"diff https://example.com/ 3 3", ExitOK, "versions 3 and 3 are the same, byte for byte\n"},
		{"diff https://example.com/ 3 3 --html --output json", ExitOK, `"view":"body","differs":false,"diff":""}`},
		{"diff https://example.com/ 2 3", ExitNotFound, "has no version 2"},
		{"diff https://example.com/ x", ExitUsage, `"x" is not a number from 0 on`},
		{"diff https://example.com/ 18446744073709551615", ExitUsage, "18446744073709551615 is too large"},
		{"history https://example.com/ --versions", ExitOK, "VERSION"},
	} {
		got := starterEnv(t, b, map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_ARCHIVE": "files", "RECRAWL_DATA": t.TempDir()}, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.out+got.errOut, c.want) {
			t.Errorf("starter %s: %d, %q, %q; want %d, %q", c.args, got.code, got.out, got.errOut, c.code, c.want)
		}
	}
	if got := starter(t, b, "show", "https://example.com/"); got.code != ExitUsage || !strings.Contains(got.errOut, "no archive: name the one that belongs to the store with --archive") {
		t.Errorf("without an archive: %d, %q", got.code, got.errOut)
	}
	if got := starter(t, &fakeBackend{}, "show", "https://example.com/", "--archive", "/none"); got.code != ExitFailed || !strings.Contains(got.errOut, "cannot open the archive: archive /none") {
		t.Errorf("with a bad archive: %d, %q", got.code, got.errOut)
	}
}

// By default, the text in which changes are found, by the crawl's rules, is shown
// and compared; the rest is shown on demand.
func TestShowAndDiffTheTextThatIsCompared(t *testing.T) {
	t.Parallel()
	const before = "<nav>Menu</nav><h1>Ticket</h1><p>It costs <b class=price>12 euro</b><p id=weather>Rain"
	after := strings.NewReplacer("12", "15", "Rain", "Sun", "Menu", "Contents").Replace(before)
	b := withVersion(t, before, store.VersionRecord{Seq: 1, ContentType: "text/html"})
	earlier, dir := b.version, b.archiveDir
	b = withVersion(t, after, store.VersionRecord{Seq: 2, ContentType: "text/html"}, dir)
	b.earlier = earlier
	ignoring := crawl.ContentSpec{IgnoreSelectors: []string{"#weather"}}
	selecting := crawl.ContentSpec{Rules: []crawl.ContentRule{{Prefix: "https://example.com/", Select: []string{".price"}}}}
	elsewhere := crawl.ContentSpec{Rules: []crawl.ContentRule{{Host: "example.org", Select: []string{".price"}}}}
	for _, c := range []struct {
		args    string
		content crawl.ContentSpec
		want    string
	}{
		{"show --text", crawl.ContentSpec{}, "Ticket\nIt costs 15 euro\nSun\n"},
		{"show --text", ignoring, "Ticket\nIt costs 15 euro\n"},
		{"show --text", selecting, "15 euro\n"},
		{"show --text", elsewhere, "Ticket\nIt costs 15 euro\nSun\n"},
		{"show --text --all", selecting, "Contents\n# Ticket\nIt costs 15 euro\nSun\n"},
		{"show --all", selecting, "Contents\n# Ticket\nIt costs 15 euro\nSun\n"},
		{"diff", ignoring, " Ticket\n-It costs 12 euro\n+It costs 15 euro\n"},
		{"diff", selecting, "@@ -1 +1 @@\n-12 euro\n+15 euro\n"},
		{"diff --all", selecting, "-Menu\n+Contents\n # Ticket\n-It costs 12 euro\n-Rain\n+It costs 15 euro\n+Sun\n"},
		{"diff --html", selecting, "-" + before + "\n"},
	} {
		b.content = &c.content
		command, flags, _ := strings.Cut(c.args, " ")
		args := []string{command, "https://example.com/"}
		if command == "diff" {
			args = append(args, "1", "2")
		}
		args = append(args, strings.Fields(flags)...)
		got := starterEnv(t, b, map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_ARCHIVE": "files", "RECRAWL_DATA": t.TempDir()}, args...)
		if got.code != ExitOK || !strings.HasSuffix(got.out, c.want) && !strings.Contains(c.args, "html") || !strings.Contains(got.out, c.want) {
			t.Errorf("%s by %+v: %d, %q, %q; want %q", c.args, c.content, got.code, got.out, got.errOut, c.want)
		}
	}
	b.content = &selecting
	same := withVersion(t, strings.Replace(after, "Sun", "Snow", 1), store.VersionRecord{Seq: 1, ContentType: "text/html"}, dir)
	b.earlier = same.version
	got := starterEnv(t, b, map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_ARCHIVE": "files", "RECRAWL_DATA": t.TempDir()}, "diff", "https://example.com/", "1", "2")
	if got.code != ExitOK || !strings.Contains(got.out, "have the same text where changes are looked for; --all compares") {
		t.Errorf("where nothing changed: %d, %q, %q", got.code, got.out, got.errOut)
	}
}

// Control characters of a page do not reach the terminal, and a file or another
// program gets exactly what the page sent.
func TestShowOnTerminal(t *testing.T) {
	t.Parallel()
	const evil = "<title>a\x1b]0;renamed\x07</title><p>one\r\ntwo\rthree \x1b[2J\x9b31m \u009b1m \u202etxt\u2066.exe\u2069 \x7f\b gr\u00fc\u00df dich \u4f60\t\xc3"
	b := withVersion(t, evil, store.VersionRecord{
		Seq: 3, ContentType: "text/html", Title: "a\x1b]0;renamed\x07",
		Heads: store.Heads{Request: "GET / HTTP/1.1\r\n\r\n", Response: "HTTP/1.1 200 \x1b[2J\u009b1m\r\n\r\n"},
	})
	run := func(terminal bool, args string) string {
		var out, problem bytes.Buffer
		env := Env{Stdout: &out, Stderr: &problem, Terminal: terminal, Getenv: func(name string) string { return placed[name] }, Backend: b}
		if code := Main(t.Context(), strings.Fields(args), env); code != ExitOK {
			t.Fatalf("starter %s: %d, %s", args, code, &problem)
		}
		return out.String()
	}
	const show = "show https://example.com/ --version 3"
	if got := run(false, show); got != evil {
		t.Errorf("piped: %q, want the page, byte for byte: %q", got, evil)
	}
	for _, args := range []string{
		show, show + " --text", show + " --head", show + " --output json", show + " --head --output json",
		"diff https://example.com/ 3 3 --html", "history https://example.com/ --versions", "history https://example.com/ --versions --output json",
	} {
		got := run(true, args)
		if i := strings.IndexFunc(got, obeyed); i >= 0 || !utf8.ValidString(got) {
			t.Errorf("starter %s on a terminal: %q has %q", args, got, got[max(i, 0):min(len(got), max(i, 0)+4)])
		}
	}
	want := "<title>a\ufffd]0;renamed\ufffd</title><p>one\ntwo\ufffdthree \ufffd[2J\ufffd31m \ufffd1m \ufffdtxt\ufffd.exe\ufffd \ufffd\ufffd gr\u00fc\u00df dich \u4f60\t\ufffd"
	if got := run(true, show); got != want {
		t.Errorf("on a terminal %q, want %q", got, want)
	}
}

// obeyed reports whether a terminal obeys a character instead of showing it.
func obeyed(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) && r > '\u200f'
}

// Text that is written in pieces is shown as if it came at once.
func FuzzVisible(f *testing.F) {
	f.Add("a\r\n\u4f60\x1b[2J\xc3\u009b\r", uint8(1))
	f.Add("\r\r\n\xe4\xbd", uint8(2))
	f.Fuzz(func(t *testing.T, text string, piece uint8) {
		shown := func(size int) string {
			var out bytes.Buffer
			v := visible{out: &out}
			for rest := []byte(text); len(rest) > 0; {
				n, err := v.Write(rest[:min(size, len(rest))])
				if err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		whole := shown(len(text))
		if got := shown(1 + int(piece)); got != whole {
			t.Errorf("%q in pieces of %d: %q, at once %q", text, 1+piece, got, whole)
		}
		if strings.ContainsFunc(whole, obeyed) || !utf8.ValidString(whole) {
			t.Errorf("%q is shown as %q", text, whole)
		}
	})
}
