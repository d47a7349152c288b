package app

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/internal/cli"
	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/keyring"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// keyOf is a ring with a key of this name.
func keyOf(t *testing.T, name string) keyring.Ring {
	t.Helper()
	ring, err := keyring.Parse(name+"=env:"+name, func(string) string {
		return base64.StdEncoding.EncodeToString([]byte((name + strings.Repeat("-", 32))[:32]))
	})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// TestAnotherKey: who has another key than the workers starts and changes nothing. A crawl that
// was started so all the same, as one beside which nothing ran, keeps no worker from the others
// and can be stopped.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	_, address := contracttest.DevServerAt(t)
	k := newKept(t)
	at := func(key string) cli.Target {
		target := k.at
		target.Temporal = cli.TemporalOptions{Address: address, Store: k.at.Store, Keys: keyOf(t, key)}
		return target
	}
	dial := func(key string) client.Client {
		t.Helper()
		c, err := dialTemporal(t.Context(), at(key).Temporal)
		k.must(err)
		t.Cleanup(c.Close)
		return c
	}
	right, wrong := dial("k1"), dial("k3")
	ours, foreign := newFlowClient(right, at("k1").Temporal), newFlowClient(wrong, at("k3").Temporal)
	name := k.Record.Spec.Name
	starting := func(f flowClient) temporalkit.Workflows {
		t.Helper()
		flows, err := f.starting(t.Context())
		k.must(err)
		return flows
	}
	k.must(starting(ours).RestartCrawl(t.Context(), []byte(`{}`), contract.CrawlProgress{Name: name}, false))
	listed := func(n int) {
		t.Helper()
		for {
			open, err := temporalkit.OpenCrawls(t.Context(), right, client.DefaultNamespace)
			k.must(err)
			if len(open) == n {
				return
			}
			select {
			case <-time.After(50 * time.Millisecond): // Temporal's list may be late
			case <-t.Context().Done():
				t.Fatal("never listed")
			}
		}
	}
	listed(1)

	page := store.PageRecord{PageRef: crawl.PageRef{Crawl: name, URL: "https://a.example/"}}
	other := k.Record.Spec
	other.Name = "other"
	for what, do := range map[string]func() error{
		"start": func() error { return foreign.StartCrawl(t.Context(), other) },
		"visit": func() error { return foreign.AskVisit(t.Context(), page) },
		"stop a page": func() error {
			_, err := foreign.ChangePage(t.Context(), page, cli.StopPage, "")
			return err
		},
		"add seeds": func() error { _, err := foreign.AddSeeds(t.Context(), name, []string{page.URL}); return err },
		"repair": func() error {
			_, err := Backend{}.Repair(t.Context(), at("k3"), name, func(cli.Repaired) {})
			return err
		},
	} {
		var locked *keyring.LockedError
		if err := do(); !errors.As(err, &locked) || locked.Key != "k1" || !strings.Contains(fmt.Sprint(err), "crawl "+name+" cannot be read") {
			t.Errorf("%s: %v", what, err)
		}
	}

	k.must(starting(foreign).RestartCrawl(t.Context(), []byte(`{}`), contract.CrawlProgress{Name: "other"}, false))
	listed(2)
	r := resident{client: right, store: k.Store, namespace: client.DefaultNamespace}
	if answer, _, err := r.look(t.Context()); err != nil || !answer.Poll {
		t.Errorf("beside a crawl that somebody has started with another key: %+v, %v", answer, err)
	}
	r.client = wrong
	if answer, _, err := r.look(t.Context()); err != nil || answer.Poll || !strings.Contains(answer.Reason, `"k1"`) {
		t.Errorf("without the store's key: %+v, %v", answer, err)
	}
	if message, err := (Backend{}).ChangeCrawl(t.Context(), at("k1"), "other", cli.Stop); err != nil || !strings.Contains(message, "crawl other is ended") {
		t.Errorf("stop other: %q, %v", message, err)
	}
	if runs, err := ours.Running(t.Context(), "other"); err != nil || runs {
		t.Errorf("other runs: %t, %v", runs, err)
	}
	if runs, err := ours.Running(t.Context(), name); err != nil || !runs {
		t.Errorf("%s runs: %t, %v", name, runs, err)
	}
}
