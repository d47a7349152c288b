package app

import (
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"recrawl/internal/cli"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// A command on a data folder, or a button of its page, reaches the folder's server, whatever key the
// environment has for another one.
func TestOwnServerBesideAnothersKey(t *testing.T) { //nolint:paralleltest // variables of the environment
	k := newKept(t)
	_, address := contracttest.DevServerAt(t)
	t.Setenv("TEMPORAL_API_KEY", "a-key")
	at := cli.TemporalOptions{Address: address, Namespace: client.DefaultNamespace, Store: k.at.Store, Folder: "d1"}
	c, err := (Backend{}).DialTemporal(t.Context(), at)
	k.must(err)
	c.Close()
	if button := (&devRun{dir: &dataDir{path: "d1"}}).operator().At.Temporal; button.Folder != at.Folder {
		t.Errorf("buttons do not know that the server is of their folder: %+v", button)
	}
	at.Folder = ""
	if _, err := (Backend{}).DialTemporal(t.Context(), at); err == nil || !strings.Contains(err.Error(), "speaks no TLS") {
		t.Errorf("a server that was named: %v", err)
	}
}

// A command on a data folder does not speak to another folder's server, which has the
// address by now.
func TestOthersServer(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	c, address := contracttest.DevServerAt(t)
	own, err := temporalkit.NamespaceID(t.Context(), c, client.DefaultNamespace)
	k.must(err)
	dial := func(folder string) string {
		t.Helper()
		c, err := (Backend{}).DialTemporal(t.Context(), cli.TemporalOptions{Address: address, Namespace: client.DefaultNamespace, Store: k.at.Store, Folder: folder})
		if err != nil {
			return err.Error()
		}
		c.Close()
		return ""
	}
	if problem := dial("d1"); problem != "" {
		t.Errorf("a store without a home: %s", problem)
	}
	settle := func(id string) {
		t.Helper()
		_, err := k.Store.SetHome(t.Context(), store.Home{Namespace: client.DefaultNamespace, NamespaceID: id, TaskQueue: "recrawl"}, true)
		k.must(err)
	}
	settle(own)
	if problem := dial("d1"); problem != "" {
		t.Errorf("the folder's own server: %s", problem)
	}
	settle("another")
	if problem := dial("d1"); !strings.Contains(problem, "another Temporal than that of data folder d1 is at "+address) {
		t.Errorf("another folder's server: %q", problem)
	}
	if problem := dial(""); problem != "" {
		t.Errorf("a server that was named: %s", problem)
	}
}

// What removes or starts workflows, or asks them for something, does not do so at another Temporal
// than the store's, as at the usual address when nothing names the right one.
func TestNothingAtAnotherTemporal(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	const url = "https://a.example/"
	k.found(url, "ours")
	_, address := contracttest.DevServerAt(t)
	_, err := k.Store.SetHome(t.Context(), store.Home{Namespace: "production", NamespaceID: "another", TaskQueue: "recrawl"}, true)
	k.must(err)
	k.at.Temporal = cli.TemporalOptions{Address: address, Namespace: client.DefaultNamespace, Store: k.at.Store}
	commands := k.takedowns(url)
	commands["repair"] = func() error {
		_, err := (Backend{}).Repair(t.Context(), k.at, k.Record.Spec.Name, func(cli.Repaired) {})
		return err
	}
	c, err := dialTemporal(t.Context(), k.at.Temporal)
	k.must(err)
	t.Cleanup(c.Close)
	pages, err := k.Store.FindPages(t.Context(), url, "")
	k.must(err)
	flows, name := newFlowClient(c, k.at.Temporal), k.Record.Spec.Name
	commands["retry"] = func() error { return flows.AskVisit(t.Context(), pages[0]) }
	commands["visit"] = func() error {
		_, err := flows.ChangePage(t.Context(), pages[0], cli.VisitNow, "")
		return err
	}
	commands["crawl"] = func() error { return flows.StartCrawl(t.Context(), k.Record.Spec) }
	commands["rank"] = func() error {
		_, err := (Backend{}).ChangeCrawl(t.Context(), k.at, name, cli.Rank)
		return err
	}
	for what, do := range commands {
		if err := do(); err == nil || !strings.Contains(err.Error(), "are in namespace production") || !strings.Contains(err.Error(), "starter adopt") {
			t.Errorf("%s: %v", what, err)
		}
		if pages, err := k.Store.FindPages(t.Context(), url, ""); err != nil || len(pages) != 1 {
			t.Errorf("%s has removed the page: %v, %v", what, pages, err)
		}
	}
}
