package deploytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promtool runs Prometheus' own checker in deploy/prometheus.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no other program is run")
	}
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "bin", "promtool")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("promtool is missing (%s): run `make prometheus`", program)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = filepath.Join(root, "deploy", "prometheus")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestPrometheusTakesItsConfiguration(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "config", "--lint=all", "--lint-fatal", "prometheus.yml")
}

// TestAlerts tests each alert before it fires and after.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool(t, "test", "rules", "alerts_test.yml")
}

var alertName = regexp.MustCompile(`(?m)^\s+- alert: (\w+)$`)

// TestEachAlertIsTried: each is in the tests, quiet and firing, and in the docs.
func TestEachAlertIsTried(t *testing.T) {
	t.Parallel()
	tests, page := read(t, "deploy", "prometheus", "alerts_test.yml"), read(t, "docs", "monitoring.md")
	alerts := alertName.FindAllStringSubmatch(read(t, "deploy", "prometheus", "alerts.yml"), -1)
	if len(alerts) < 15 {
		t.Errorf("found %d alerts only", len(alerts))
	}
	var names []string
	for _, m := range alerts {
		name := m[1]
		names = append(names, name)
		if !regexp.MustCompile(`alertname: ` + name + `, eval_time: \d+m, exp_alerts: \[\]`).MatchString(tests) {
			t.Errorf("%s: no test says when it is quiet", name)
		}
		if !regexp.MustCompile(`alertname: ` + name + `\n\s+eval_time: \d+m\n\s+exp_alerts:\n\s+- exp_labels:`).MatchString(tests) {
			t.Errorf("%s: no test says when it fires", name)
		}
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/monitoring.md does not say what to do about %s", name)
		}
	}
	for _, m := range regexp.MustCompile("`(Recrawl\\w+)`").FindAllStringSubmatch(page, -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("docs/monitoring.md names %s, and there is no such alert", m[1])
		}
	}
}

// TestPrometheusFindsTheWorkers: it scrapes the service of the workers where they listen, and
// it is the release that the tests run.
func TestPrometheusFindsTheWorkers(t *testing.T) {
	t.Parallel()
	services := load(t).Services
	listen := services["worker"].Env()["RECRAWL_METRICS"]
	config := read(t, "deploy", "prometheus", "prometheus.yml")
	if !strings.Contains(config, "names: [worker]") || !strings.Contains(config, "port: "+strings.TrimPrefix(listen, ":")+"\n") {
		t.Errorf("the workers listen at %s, and Prometheus asks elsewhere:\n%s", listen, config)
	}
	module := regexp.MustCompile(`(?m)github\.com/prometheus/prometheus v0\.(\d)(\d\d)\.(\d+)`).FindStringSubmatch(read(t, "tools", "prometheus", "go.mod"))
	if module == nil {
		t.Fatal("tools/prometheus/go.mod does not name Prometheus")
	}
	if want := "prom/prometheus:v" + module[1] + "." + strings.TrimPrefix(module[2], "0") + "." + module[3]; services["prometheus"].Image != want {
		t.Errorf("the image is %s, the tests run %s", services["prometheus"].Image, want)
	}
}

// TestGrafanaHasTheBoard: the folders that its settings name are the mounted ones.
func TestGrafanaHasTheBoard(t *testing.T) {
	t.Parallel()
	mounted := map[string]bool{}
	for _, m := range load(t).Services["grafana"].Volumes {
		if m.Type != "bind" {
			continue
		}
		mounted[m.Target] = true
		if _, err := os.Stat(m.Source); err != nil {
			t.Error(err)
		}
	}
	boards := regexp.MustCompile(`path: (\S+)`).FindStringSubmatch(read(t, "deploy", "grafana", "provisioning", "dashboards", "recrawl.yml"))
	if boards == nil || !mounted[boards[1]] || !mounted["/etc/grafana/provisioning"] {
		t.Errorf("it looks for boards at %v and has %v", boards, mounted)
	}
}
