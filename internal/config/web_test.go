package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWeb(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0123456789abcdef-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(env(EnvWebToken, "file:"+file, EnvWebReadToken, "env:READ", "READ", "0123456789abcdef-env", EnvWebHosts, "Crawl.Example.org., pages.example.org", EnvWebUI, "https://temporal.example.org/ui"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Web.Token != "0123456789abcdef-file" || c.Web.ReadToken != "0123456789abcdef-env" || !slices.Equal(c.Web.Hosts, []string{"crawl.example.org", "pages.example.org"}) || c.Web.UI != "https://temporal.example.org/ui" {
		t.Errorf("%+v", c.Web)
	}
	if c, err := Load(env(EnvWebToken, "0123456789abcdef")); err != nil || c.Web.Token != "0123456789abcdef" {
		t.Errorf("a token as it is: %+v, %v", c.Web, err)
	}
	for want, vars := range map[string][]string{
		"RECRAWL_WEB_TOKEN: a token has at least 16 characters and no spaces: `openssl rand -hex 16` makes one":                      {EnvWebToken, "hunter2"},
		"RECRAWL_WEB_READ_TOKEN: a token has at least 16 characters and no spaces: `openssl rand -hex 16` makes one":                 {EnvWebReadToken, "env:READ", "READ", "hunter2 hunter2 hunter2"},
		"RECRAWL_WEB_TOKEN: the variable NONE is empty":                                                                              {EnvWebToken, "env:NONE"},
		"RECRAWL_WEB_READ_TOKEN: it is the same as RECRAWL_WEB_TOKEN: whoever may only look needs another one":                       {EnvWebToken, "0123456789abcdef", EnvWebReadToken, "0123456789abcdef"},
		`RECRAWL_WEB_HOSTS: "https://x.org" is not a name: write names alone, such as crawl.example.org, without a scheme or a port`: {EnvWebHosts, "https://x.org"},
		`RECRAWL_WEB_HOSTS: "x.org:80" is not a name: write names alone, such as crawl.example.org, without a scheme or a port`:      {EnvWebHosts, "x.org:80"},
		`RECRAWL_WEB_UI: "127.0.0.1:8080" is not an address: write that of the Temporal UI, such as http://127.0.0.1:8080`:           {EnvWebUI, "127.0.0.1:8080"},
		`RECRAWL_WEB_UI: "javascript:x" is not an address: write that of the Temporal UI, such as http://127.0.0.1:8080`:             {EnvWebUI, "javascript:x"},
	} {
		_, err := Load(env(vars...))
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows a token: %v", err)
		}
	}
}

// Beyond this machine nobody is let in without a token.
func TestCheckListen(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"127.0.0.1:8234": true, "localhost:8234": true, "[::1]:8234": true, "127.0.0.2:80": true,
		"0.0.0.0:8234": false, ":8234": false, "[::]:8234": false, "192.0.2.1:8234": false, "crawl.example.org:80": false, "[::ffff:192.0.2.1]:80": false,
	} {
		err := Web{}.CheckListen(address)
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), EnvWebToken) {
			t.Errorf("%s: %v", address, err)
		}
		for _, w := range []Web{{Token: "0123456789abcdef"}, {ReadToken: "0123456789abcdef"}} {
			if err := w.CheckListen(address); err != nil {
				t.Errorf("%s with a token: %v", address, err)
			}
		}
	}
	for _, address := range []string{"8234", "localhost", ""} {
		if err := (Web{Token: "0123456789abcdef"}).CheckListen(address); err == nil || !strings.Contains(err.Error(), "write HOST:PORT") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
