package s3

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	aws := place{bucket: "pages", endpoint: "s3.amazonaws.com", amazon: true}
	with := func(p place, change func(*place)) place {
		change(&p)
		return p
	}
	local := place{bucket: "pages", prefix: "a/b/", endpoint: "127.0.0.1:9000", plain: true, region: "garage"}
	for _, c := range []struct {
		raw  string
		env  []string
		want place
	}{
		{"s3://pages", nil, aws},
		{"s3://pages/", nil, aws},
		{"s3://pages//news/", nil, with(aws, func(p *place) { p.prefix = "news/" })},
		{"s3://pages", []string{"AWS_REGION", "eu-central-1", "AWS_DEFAULT_REGION", "x"}, with(aws, func(p *place) { p.region = "eu-central-1" })},
		{"s3://pages", []string{"AWS_DEFAULT_REGION", "us-west-2"}, with(aws, func(p *place) { p.region = "us-west-2" })},
		{"s3://pages?region=us-east-1", []string{"AWS_REGION", "eu-central-1"}, with(aws, func(p *place) { p.region = "us-east-1" })},
		{"s3://pages/a/b?endpoint=http://127.0.0.1:9000&region=garage", []string{"AWS_ENDPOINT_URL", "https://other"}, local},
		{"s3://pages/a/b?endpoint=http%3A%2F%2F127.0.0.1%3A9000/&region=garage", nil, local},
		{"s3://pages/a/b", []string{"AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000", "AWS_ENDPOINT_URL", "https://other", "AWS_REGION", "garage"}, local},
		{"s3://pages", []string{"AWS_ENDPOINT_URL", "https://s3.example.org"}, place{bucket: "pages", endpoint: "s3.example.org"}},
		{"s3://my.pages-1", nil, with(aws, func(p *place) { p.bucket = "my.pages-1" })},
	} {
		if got, err := parse(c.raw, env(c.env...)); err != nil || got != c.want {
			t.Errorf("%s with %v:\n%+v, %v, want\n%+v", c.raw, c.env, got, err, c.want)
		}
	}
	if got, want := local.String(), "s3://pages/a/b/ at http://127.0.0.1:9000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

const secret = "hunter2"

func TestParseMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, want string }{
		{"", "cannot be read"},
		{"https://pages", "cannot be read"},
		{"s3:pages", "cannot be read"},
		{"s3://pages#x", "cannot be read"},
		{"s3://pages?a=%zz", "cannot be read"},
		{"s3://:hunter2@", "credentials"},
		{"s3://id:hunter2@pages", "AWS_SECRET_ACCESS_KEY"},
		{"s3://id:hunter2@pages:x/%", "cannot be read"},
		{"s3://", "names no bucket"},
		{"s3:///prefix", "names no bucket"},
		{"s3://Pages", "names no bucket"},
		{"s3://p", "names no bucket"},
		{"s3://pages:80", "names no bucket"},
		{"s3://pages/a//b", "prefix"},
		{"s3://pages/../b", "prefix"},
		{"s3://pages/a/./b", "prefix"},
		{"s3://pages/a%00", "prefix"},
		{"s3://pages/a b", "prefix"},
		{"s3://pages/é", "prefix"},
		{"s3://pages?secret=hunter2", `option "secret"`},
		{"s3://pages?region=a&region=b", `option "region"`},
		{"s3://pages?region=a%20b", "is no region"},
		{"s3://pages?endpoint=localhost:9000", "is no server"},
		{"s3://pages?endpoint=ftp://localhost", "is no server"},
		{"s3://pages?endpoint=http://id:hunter2@localhost", "is no server"},
		{"s3://pages?endpoint=http://localhost/path/hunter2", "is no server"},
		{"s3://pages?endpoint=http://", "is no server"},
	} {
		_, err := parse(c.raw, env())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q and no secret", c.raw, err, c.want)
		}
	}
}

// FuzzParse: whatever is accepted is a place below its bucket, and the same when
// it is written down and read again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"s3://pages", "s3://pages/a/b?endpoint=http://127.0.0.1:9000&region=x", "s3://a:b@pages/../x?region=&endpoint=https://h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := parse(raw, env())
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: an error of several lines: %v", raw, err)
			}
			return
		}
		if p.prefix != "" && (!strings.HasSuffix(p.prefix, "/") || strings.HasPrefix(p.prefix, "/") || strings.Contains("/"+p.prefix, "/../")) {
			t.Errorf("%q: prefix %q", raw, p.prefix)
		}
		scheme := "https://"
		if p.plain {
			scheme = "http://"
		}
		again := "s3://" + p.bucket + "/" + p.prefix + "?region=" + p.region + "&endpoint=" + scheme + p.endpoint
		if p.amazon {
			again, _, _ = strings.Cut(again, "&endpoint")
		}
		if q, err := parse(again, env()); err != nil || q != p {
			t.Errorf("%q is %+v, and as %q it is %+v, %v", raw, p, again, q, err)
		}
	})
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	local := place{bucket: "pages", endpoint: "127.0.0.1:9", plain: true}
	file := filepath.Join(t.TempDir(), "credentials")
	text := "[default]\naws_access_key_id = one\naws_secret_access_key = hunter2\n[other]\naws_access_key_id = two\naws_secret_access_key = hunter2\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		name     string
		env      []string
		id, want string
	}{
		{"variables", []string{"AWS_ACCESS_KEY_ID", "id", "AWS_SECRET_ACCESS_KEY", secret, "AWS_SHARED_CREDENTIALS_FILE", file}, "id", ""},
		{"half", []string{"AWS_ACCESS_KEY_ID", "id", "AWS_SHARED_CREDENTIALS_FILE", file}, "", "set both"},
		{"the other half", []string{"AWS_SECRET_ACCESS_KEY", secret}, "", "set both"},
		{"file", []string{"AWS_SHARED_CREDENTIALS_FILE", file}, "one", ""},
		{"profile", []string{"AWS_SHARED_CREDENTIALS_FILE", file, "AWS_PROFILE", "other"}, "two", ""},
		{"unknown profile", []string{"AWS_SHARED_CREDENTIALS_FILE", file, "AWS_PROFILE", "third"}, "", "no credentials"},
		{"none", []string{"AWS_SHARED_CREDENTIALS_FILE", nowhere}, "", "no credentials"},
	} {
		found, err := credentialsOf(local, env(c.env...))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if value, err := found.GetWithContext(nil); err != nil || value.AccessKeyID != c.id || value.SecretAccessKey != secret {
			t.Errorf("%s: key %s, %v", c.name, value.AccessKeyID, err)
		}
	}
}

// A server that takes connections and says nothing is not waited for for long.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nobody accepts
	s := Connect(t, "s3://pages?endpoint=http://"+l.Addr().String(), env("AWS_ACCESS_KEY_ID", "id", "AWS_SECRET_ACCESS_KEY", secret), time.Minute)
	err = s.look(t.Context(), 100*time.Millisecond)
	if !errors.Is(err, archive.ErrUnavailable) || !strings.Contains(err.Error(), "no answer within 100ms") {
		t.Errorf("%v", err)
	}
}

// Connect opens an archive whose connections may be silent for so long.
func Connect(t testing.TB, url string, getenv func(string) string, silence time.Duration) *Store {
	t.Helper()
	p, err := parse(url, getenv)
	if err != nil {
		t.Fatal(err)
	}
	s, err := connect(p, getenv, silence)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
