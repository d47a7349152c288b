package cli

import (
	"strings"
	"testing"

	"recrawl/internal/archive"
	"recrawl/internal/store"
)

func TestShowAndDiff(t *testing.T) {
	t.Parallel()
	b := &fakeBackend{archiveDir: t.TempDir()}
	files, err := archive.OpenDir(b.archiveDir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := files.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const body = "<h1>Hello</h1><p>world"
	if _, err := w.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	digest, _, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	b.version = store.VersionRecord{
		Seq: 3, Digest: digest, ContentType: "text/html", Heads: store.Heads{Request: "GET / HTTP/1.1\r\n\r\n", Response: "HTTP/1.1 200 OK\r\n\r\n"},
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"show https://example.com/ --version 3", ExitOK, body},
		{"show https://example.com/ --version 3 --text", ExitOK, "# Hello\nworld\n"},
		{"show https://example.com/ --version 3 --head", ExitOK, "GET / HTTP/1.1\n\nHTTP/1.1 200 OK\n\n"},
		{"show https://example.com/ --version 3 --text --output json", ExitOK, `"view":"text","text":"# Hello\nworld\n"}`},
		{"show https://example.com/ --version 2", ExitNotFound, "has no version 2: `starter history --versions` lists them"},
		{"show https://example.com/ --text --head", ExitUsage, "can't be used together"},
		{"show https://example.com/none", ExitNotFound, "no crawl has the page"},
		{"show https://example.com/two", ExitUsage, "choose one with --crawl"},
		{"diff https://example.com/ 3 3", ExitOK, "versions 3 and 3 are the same, byte for byte\n"},
		{"diff https://example.com/ 3 3 --html --output json", ExitOK, `"view":"body","differs":false,"diff":""}`},
		{"diff https://example.com/ 2 3", ExitNotFound, "has no version 2"},
		{"diff https://example.com/ x", ExitUsage, "expected a valid 64 bit uint"},
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
