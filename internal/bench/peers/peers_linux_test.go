package peers

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"recrawl/internal/bench"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{Default(), Quick()} {
		if err := o.Check(); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(*Options){
		"hosts":  func(o *Options) { o.Hosts = 0 },
		"pages":  func(o *Options) { o.Pages++ },
		"rounds": func(o *Options) { o.Rounds = 0 },
		"delays": func(o *Options) { o.Delays = nil },
	} {
		o := Default()
		change(&o)
		if err := o.Check(); err == nil {
			t.Errorf("a wrong number of %s is accepted", name)
		}
	}
}

// A program that ends by itself is measured, and the site counts what it did.
func TestPass(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: no programs are run")
	}
	if _, err := exec.LookPath("wget"); err != nil {
		t.Fatalf("install wget: %v", err)
	}
	var lines bytes.Buffer
	o := Quick()
	o.Hosts, o.Pages, o.Folder, o.JSON = 2, 24, t.TempDir(), &lines
	r := &Report{Options: o}
	for _, c := range crawlers() {
		if c.name != "wget" {
			continue
		}
		if err := r.pass(t.Context(), c, 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.Passes) != 1 || r.Passes[0].Pages != 24 || r.Passes[0].Asked < 24 || r.Passes[0].Written < 24*1000 || r.Passes[0].Seconds <= 0 {
		t.Errorf("wget made the passes %+v", r.Passes)
	}
	if got := lines.String(); !strings.Contains(got, `"kind":"pass"`) || !strings.HasSuffix(got, "\n") {
		t.Errorf("as JSON: %s", got)
	}
}

// A crawler that fails says why.
func TestFailingProgram(t *testing.T) {
	t.Parallel()
	site, err := bench.NewSite(t.Context(), bench.SiteOptions{Net: 202, Hosts: 1, Pages: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	fails := program(func(run) bench.Command {
		return bench.Command{Path: "/bin/sh", Args: []string{"-c", "echo no such module; exit 1"}}
	})
	if _, err := fails(t.Context(), run{site: site, dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "no such module") {
		t.Errorf("it failed with %v", err)
	}
	hangs := program(func(run) bench.Command { return bench.Command{Path: "/bin/sleep", Args: []string{"3600"}} })
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err := hangs(ctx, run{site: site, dir: t.TempDir()}); !errors.Is(err, enough) {
		t.Errorf("it was given up with %v", err)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	o := Default()
	o.Delays = []time.Duration{0}
	r := &Report{Options: o, Missing: []string{"Scrapy: scrapy is not installed (apt-get install python3-scrapy)"}, Passes: []Pass{
		{Crawler: recrawl, Round: 1, Pages: 100, Asked: 100, Seconds: 4, CPU: 40, Written: 1_000_000},
		{Crawler: "wget", Round: 1, Pages: 100, Asked: 101, Seconds: 1, CPU: 1, Written: 300_000},
		{Crawler: "wget", Round: 2, Pages: 100, Asked: 101, Seconds: 2, CPU: 3, Written: 300_000},
	}}
	text := r.Tables((*bench.Table).Text)
	for _, want := range []string{"75.0 (50.0–100)", "2.00 (1.00–3.00)", "3000", "10000", "delay 0s", "Left out: Scrapy: scrapy is not installed (apt-get install python3-scrapy)."} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}
