package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// monitored is a worker that a Prometheus watches, both real.
type monitored struct {
	*fleet
	worker     string // where it answers
	prometheus string
	asked      atomic.Int64
	traces     syncBuffer  // as they came
	silent     atomic.Bool // the site answers nobody any more
}

// TestMonitoring runs the board's queries and the alert rules of deploy/ against a real
// worker: each query of the board finds something, each rule is understood, and an alert
// fires when a host stops answering. The worker's log is JSON, its labels hold no address,
// its visits are traced, and it says when it is not ready.
func TestMonitoring(t *testing.T) {
	sideBySide(t, 30)
	m := &monitored{worker: "127.0.0.1:" + freePort(t)}
	collector := serve(t, http.HandlerFunc(m.collect))
	m.fleet = newFleet(t, "RECRAWL_METRICS="+m.worker, "RECRAWL_LOG_FORMAT=json", "RECRAWL_SINK_FOLDERS=mirror="+t.TempDir(),
		"OTEL_EXPORTER_OTLP_ENDPOINT="+collector.url, "OTEL_BSP_SCHEDULE_DELAY=200")
	if _, code, said := m.try(programs.worker, "ready"); code != 1 || !strings.Contains(said, "the worker does not answer") {
		t.Errorf("before there is a worker: %d: %s", code, said)
	}
	m.startWorker()
	m.await("the worker is ready", func() bool {
		_, code, _ := m.try(programs.worker, "ready")
		return code == 0
	})
	s := serve(t, http.HandlerFunc(m.answer))
	m.crawl(s)
	m.await("a trace of a changed page comes", func() bool {
		return m.traced("Fetch") && m.traced("DetectChange") && m.traced(s.url+"/a") && m.traced("service.name")
	})
	m.startPrometheus()
	m.checkRules()
	m.checkBoard()
	m.checkMetrics()
	m.silent.Store(true)
	m.await("an alert fires because the host does not answer", func() bool {
		return slices.Contains(m.firing(), "RecrawlHostsInTrouble")
	})
	m.temporal.kill()
	m.await("the worker is not ready without Temporal", func() bool {
		_, code, said := m.try(programs.worker, "ready")
		return code == 1 && strings.Contains(said, "temporal: ") && strings.Contains(said, "store: ok; archive: ok")
	})
	if text, status := m.get(m.worker, "/healthz"); status != http.StatusOK || text != "ok\n" {
		t.Errorf("it lives and says %d: %s", status, text)
	}
	for line := range strings.Lines(m.workers[0].out.String()) {
		if strings.HasSuffix(line, "\n") && !json.Valid([]byte(line)) { // the last one may be under way
			t.Errorf("a line of the log is not JSON: %s", line)
		}
	}
}

// collect takes traces.
func (m *monitored) collect(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/traces" {
		m.t.Errorf("the collector is asked for %s", r.URL)
	}
	if _, err := io.Copy(&m.traces, r.Body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

// traced reports whether the traces mention something.
func (m *monitored) traced(what string) bool { return strings.Contains(m.traces.String(), what) }

// answer is a site with pages that change, one that robots.txt forbids, and in the end silence.
func (m *monitored) answer(w http.ResponseWriter, r *http.Request) {
	if m.silent.Load() {
		panic(http.ErrAbortHandler)
	}
	switch r.URL.Path {
	case "/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /secret\n")
	case "/":
		fmt.Fprint(w, `<!doctype html><title>home</title><p><a href="/a">a</a> <a href="/b">b</a> <a href="/secret">secret</a>`)
	default:
		fmt.Fprintf(w, "<!doctype html><title>%s</title><p>%s says %s", r.URL.Path, r.URL.Path, word(int(m.asked.Add(1))))
	}
}

func (m *monitored) crawl(s *site) {
	m.t.Helper()
	text, err := json.Marshal(map[string]any{
		"name": "watched", "seeds": []string{s.url + "/"},
		"politeness": map[string]any{"delay": "20ms", "factor": 0},
		"revisit":    map[string]any{"policy": "fixed", "default_interval": "2s", "min_interval": "1s"},
		"sinks":      map[string]any{"copy": map[string]any{"kind": "folder", "to": "mirror/watched"}},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.starter("crawl", "--spec", write(m.t, filepath.Join(m.t.TempDir(), "spec.json"), string(text)))
}

// startPrometheus starts one with the rules of deploy/, which wait for a second only.
func (m *monitored) startPrometheus() {
	m.t.Helper()
	program := filepath.Join(m.root(), "bin", "prometheus")
	if _, err := os.Stat(program); err != nil {
		m.t.Fatalf("Prometheus is missing (%s): run `make prometheus`", program)
	}
	folder := m.t.TempDir()
	rules := regexp.MustCompile(`(?m)^(\s+for:) .*$`).ReplaceAllString(m.deployed("prometheus", "alerts.yml"), "$1 1s")
	write(m.t, filepath.Join(folder, "alerts.yml"), rules)
	config := write(m.t, filepath.Join(folder, "prometheus.yml"), fmt.Sprintf(
		"global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [alerts.yml]\nscrape_configs:\n  - job_name: recrawl\n    static_configs: [{targets: ['%s']}]\n", m.worker))
	m.await("Prometheus answers", func() bool {
		m.prometheus = "127.0.0.1:" + freePort(m.t)
		p := startProcess(m.t, cleanEnv(m.t), program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(folder, "tsdb"), "--web.listen-address="+m.prometheus, "--log.level=error")
		up := false
		m.await("Prometheus answers or has ended", func() bool {
			_, status := m.get(m.prometheus, "/-/ready")
			up = status == http.StatusOK
			select {
			case <-p.done: // somebody was quicker to take the port
				return true
			default:
				return up
			}
		})
		return up
	})
}

func (m *monitored) root() string {
	m.t.Helper()
	root, err := moduleRoot()
	if err != nil {
		m.t.Fatal(err)
	}
	return root
}

// deployed is a file of deploy/.
func (m *monitored) deployed(elem ...string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{m.root(), "deploy"}, elem...)...))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// get asks, and answers with status 0 if nobody does.
func (m *monitored) get(address, path string) (text string, status int) {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", 0
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", 0
	}
	return string(body), resp.StatusCode
}

// ask asks Prometheus' API.
func (m *monitored) ask(path string, into any) {
	m.t.Helper()
	text, status := m.get(m.prometheus, path)
	if status != http.StatusOK {
		m.t.Fatalf("Prometheus answers %s with %d: %s", path, status, text)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		m.t.Fatalf("%v: %s", err, text)
	}
}

// checkRules waits until each rule was evaluated without an error.
func (m *monitored) checkRules() {
	m.t.Helper()
	m.await("all rules were evaluated", func() bool {
		var all struct {
			Data struct {
				Groups []struct {
					Rules []struct{ Name, Health, LastError string }
				}
			}
		}
		m.ask("/api/v1/rules", &all)
		evaluated := 0
		for _, g := range all.Data.Groups {
			for _, r := range g.Rules {
				if r.Health == "err" {
					m.t.Fatalf("the rule %s cannot be evaluated: %s", r.Name, r.LastError)
				}
				if r.Health == "ok" {
					evaluated++
				}
			}
		}
		return evaluated == strings.Count(m.deployed("prometheus", "alerts.yml"), "- alert: ")
	})
}

// firing are the alerts that fire.
func (m *monitored) firing() (names []string) {
	m.t.Helper()
	var all struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels struct{ Alertname string }
			}
		}
	}
	m.ask("/api/v1/alerts", &all)
	for _, a := range all.Data.Alerts {
		if a.State == "firing" {
			names = append(names, a.Labels.Alertname)
		}
	}
	return names
}

// checkBoard waits until each query of the board finds something.
func (m *monitored) checkBoard() {
	m.t.Helper()
	var board struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(m.deployed("grafana", "boards", "recrawl.json")), &board); err != nil {
		m.t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "1m", "$crawl", ".*", "$instance", ".*")
	queries := 0
	for _, p := range board.Panels {
		if len(p.Targets) == 0 && p.Type != "row" {
			m.t.Errorf("the panel %s asks nothing", p.Title)
		}
		for _, target := range p.Targets {
			queries++
			m.await(fmt.Sprintf("%s finds something: %s", p.Title, target.Expr), func() bool { return m.finds(variables.Replace(target.Expr)) })
		}
	}
	if queries < 40 {
		m.t.Errorf("the board has %d queries", queries)
	}
}

// finds reports whether a query has a number for an answer.
func (m *monitored) finds(query string) bool {
	m.t.Helper()
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	m.ask("/api/v1/query?query="+url.QueryEscape(query), &answer)
	return slices.ContainsFunc(answer.Data.Result, func(r struct{ Value [2]any }) bool { return r.Value[1] != "NaN" })
}

// checkMetrics looks at the worker's metrics: no label is an address, they are named as
// Prometheus wants them, and docs/monitoring.md describes ours.
func (m *monitored) checkMetrics() {
	m.t.Helper()
	text, status := m.get(m.worker, "/metrics")
	if status != http.StatusOK {
		m.t.Fatalf("the worker answers with %d: %s", status, text)
	}
	page, err := os.ReadFile(filepath.Join(m.root(), "docs", "monitoring.md"))
	if err != nil {
		m.t.Fatal(err)
	}
	var own strings.Builder
	ours := regexp.MustCompile(`^(# (HELP|TYPE) )?recrawl_`)
	for line := range strings.Lines(text) {
		for _, label := range regexp.MustCompile(`="((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(line, -1) {
			if strings.Contains(label[1], "://") || strings.Contains(label[1], "127.0.0.1") || strings.Contains(label[1], "localhost") {
				m.t.Errorf("a label holds an address: %s", line)
			}
		}
		name, is := strings.CutPrefix(line, "# TYPE recrawl_")
		if is && !strings.Contains(string(page), "`recrawl_"+strings.Fields(name)[0]+"`") {
			m.t.Errorf("docs/monitoring.md does not say what recrawl_%s is", name)
		}
		if ours.MatchString(line) {
			own.WriteString(line)
		}
	}
	check := exec.CommandContext(m.t.Context(), filepath.Join(m.root(), "bin", "promtool"), "check", "metrics")
	check.Stdin = strings.NewReader(own.String())
	if out, err := check.CombinedOutput(); err != nil {
		m.t.Errorf("promtool check metrics: %v: %s", err, out)
	}
}
