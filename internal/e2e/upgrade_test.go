//go:build unix

package e2e

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const upgradingPage = "../../docs/upgrading.md"

// TestUpgradingPage upgrades the data folder of the last release, goes back as
// docs/upgrading.md says, and has the store that the release left.
func TestUpgradingPage(t *testing.T) {
	sideBySide(t, 10)
	files, err := filepath.Glob(releases)
	if err != nil || len(files) == 0 {
		t.Fatalf("no data folder of a release: %v", err)
	}
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	unpack(t, files[len(files)-1], data)
	store := filepath.Join(data, "recrawl.db")
	before, schema := recorded(t, store), migrations(t, store)
	s := serve(t, releaseWeb())
	d := &dev{t: t, data: data, env: releaseEnv(s)}
	d.start()
	asked := len(s.requests())
	d.await("the newer release visits pages", func() bool { return len(s.requests()) > asked+3 })
	if got := migrations(t, store); got <= schema {
		t.Errorf("%d migrations after the upgrade, %d before", got, schema)
	}
	d.killAll()
	runSteps(t, "docs/upgrading.md", section(t, upgradingPage, "## One machine", "## A cluster"), folder, append(cleanEnv(t), pathWith()))
	if got := migrations(t, store); got != schema {
		t.Errorf("%d migrations in what was gone back to, want %d", got, schema)
	}
	after := recorded(t, store)
	for url, visits := range before {
		if strings.Join(after[url], ";") != strings.Join(visits, ";") {
			t.Errorf("%s: %v, before the upgrade %v", url, after[url], visits)
		}
	}
	if _, err := os.Stat(filepath.Join(data, "temporal.db")); !os.IsNotExist(err) {
		t.Errorf("Temporal's database is still there: %v", err)
	}
}

func migrations(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT COUNT(*) FROM recrawl_migrations").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWorkerDeployment upgrades workers as docs/upgrading.md says: pages that the first
// build visited are visited by the second, when that is current and the first is gone.
func TestWorkerDeployment(t *testing.T) {
	sideBySide(t, 60)
	s := serve(t, tree(backupPages))
	f := newFleet(t, "RECRAWL_DEPLOYMENT=recrawl:one")
	f.startWorker()
	f.await("the first build is known", func() bool {
		_, code, _ := f.try(programs.temporal, "worker", "deployment", "set-current-version", "--deployment-name", "recrawl", "--build-id", "one", "--yes")
		return code == 0
	})
	f.starter(append([]string{"crawl", "t", s.url + "/"}, crawlSettings("20ms")...)...)
	visits := func(url string) int {
		return len(decodeLines[visitLine](t, f.starter("--output", "json", "history", url)))
	}
	last := s.url + "/p14.html"
	f.await("the first build visits", func() bool {
		pages := decodeLines[pageLine](t, f.starter("--output", "json", "pages", "t", "--limit", "0"))
		return len(pages) == backupPages && visits(last) == 1
	})
	f.env = append(f.env, "RECRAWL_DEPLOYMENT=recrawl:two")
	f.startWorker()
	// A build can become the current one only when it polls all that the previous one
	// polls.
	polled := func(build string) string {
		out, _, _ := f.try(programs.temporal, "worker", "deployment", "describe-version", "--deployment-name", "recrawl", "--build-id", build, "--output", "json")
		var version struct {
			TaskQueues []struct{ Name, Type string } `json:"taskQueuesInfos"`
		}
		if err := json.Unmarshal([]byte(out), &version); err != nil {
			return ""
		}
		queues := make([]string, len(version.TaskQueues))
		for i, q := range version.TaskQueues {
			queues[i] = q.Type + " " + q.Name
		}
		slices.Sort(queues)
		return strings.Join(queues, ", ")
	}
	f.await("the second build polls what the first does", func() bool {
		before := polled("one")
		return before != "" && polled("two") == before
	})
	runSteps(t, "docs/upgrading.md", section(t, upgradingPage, "## Worker deployments", ""), t.TempDir(), append(append([]string{}, f.env...), pathWith()))
	f.workers[0].kill()
	f.starter("visit", last)
	f.await("the second build visits", func() bool { return visits(last) == 2 })
}
