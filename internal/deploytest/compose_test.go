package deploytest

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/config"
	"recrawl/internal/contract"
)

func load(t *testing.T, env ...string) Project {
	t.Helper()
	p, err := Load(t.Context(), env...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(append([]string{root}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLoadIsStrict makes sure that the parser refuses what Compose refuses; otherwise the
// other tests check nothing.
func TestLoadIsStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"an unknown field", "services: {a: {image: x, healthchek: {}}}", "healthchek"},
		{"a wrong type", "services: {a: {image: [x]}}", "image"},
		{"an unset required variable", "services: {a: {image: \"${IMAGE:?say which}\"}}", "say which"},
		{"a missing service", "services: {a: {image: x, depends_on: [b]}}", "b"},
		{"a missing volume", "services: {a: {image: x, volumes: [\"keep:/v\"]}}", "keep"},
		{"not YAML", "services: {", "compose-config"},
	} {
		file := filepath.Join(t.TempDir(), "docker-compose.yml")
		if err := os.WriteFile(file, []byte("name: t\n"+c.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadFile(t.Context(), file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	after := func(names ...string) Service {
		s := Service{DependsOn: map[string]Dependency{}}
		for _, n := range names {
			s.DependsOn[n] = Dependency{Condition: Healthy}
		}
		return s
	}
	order, err := Project{map[string]Service{"a": after("c"), "b": after(), "c": after("b")}}.Order()
	if want := []string{"b", "c", "a"}; err != nil || !slices.Equal(order, want) {
		t.Errorf("order %v, %v, want %v", order, err, want)
	}
	for want, p := range map[string]Project{
		"b → c → b": {map[string]Service{"a": after("b"), "b": after("c"), "c": after("b")}},
		"a → a":     {map[string]Service{"a": after("a")}},
		"not a":     {map[string]Service{"a": after("z")}},
	} {
		if _, err := p.Order(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("order of %v: %v, want an error with %q", slices.Sorted(maps.Keys(p.Services)), err, want)
		}
	}
}

// TestNothingBeyondLoopback: neither Temporal nor its UI asks for a password.
func TestNothingBeyondLoopback(t *testing.T) {
	t.Parallel()
	published := 0
	for name, s := range load(t).Services {
		for _, port := range s.Ports {
			published++
			if ip, err := netip.ParseAddr(port.HostIP); err != nil || !ip.IsLoopback() {
				t.Errorf("%s publishes port %d on %q: write 127.0.0.1:%s:%d", name, port.Target, port.HostIP, port.Published, port.Target)
			}
		}
		if s.NetworkMode != "" {
			t.Errorf("%s is on the network %q: its ports would be on the machine's own addresses", name, s.NetworkMode)
		}
		if s.Privileged {
			t.Errorf("%s is privileged", name)
		}
	}
	if published == 0 {
		t.Error("nothing is published: the parser does not see ports")
	}
}

// exact is an image whose tag names one release.
var exact = regexp.MustCompile(`^[a-z0-9./-]+:v?\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?(@sha256:[0-9a-f]{64})?$`)

func TestImagesArePinned(t *testing.T) {
	t.Parallel()
	for name, s := range load(t).Services {
		if s.Build == nil && !exact.MatchString(s.Image) {
			t.Errorf("%s: the image %q does not name one release", name, s.Image)
		}
	}
	froms := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(read(t, "Dockerfile"), -1)
	if len(froms) != 2 || froms[1][1] != "scratch" {
		t.Fatalf("the Dockerfile starts from %v, want a build image and scratch", froms)
	}
	if !exact.MatchString(froms[0][1]) {
		t.Errorf("the Dockerfile's image %q does not name one release", froms[0][1])
	}
}

// TestImagesAreWhatIsTested compares the images' versions with those of the
// programs that the tests build from tools/.
func TestImagesAreWhatIsTested(t *testing.T) {
	t.Parallel()
	server := regexp.MustCompile(`(?m)^\s*go\.temporal\.io/server v(\S+)`).FindStringSubmatch(read(t, "tools", "temporal-server", "go.mod"))
	if server == nil {
		t.Fatal("tools/temporal-server/go.mod does not name the server")
	}
	services := load(t).Services
	for name, image := range map[string]string{
		"temporal": "temporalio/server", "temporal-schema": "temporalio/admin-tools", "temporal-namespace": "temporalio/admin-tools",
	} {
		if want := image + ":" + server[1]; services[name].Image != want {
			t.Errorf("%s has the image %s, the tests run %s", name, services[name].Image, want)
		}
	}
	language := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	if want := "FROM golang:" + language[1] + "."; !strings.Contains(read(t, "Dockerfile"), want) {
		t.Errorf("the Dockerfile does not build with go.mod's Go (%s…)", want)
	}
}

func TestImageRunsAsNobody(t *testing.T) {
	t.Parallel()
	text := read(t, "Dockerfile")
	_, last, _ := strings.Cut(text, "FROM scratch")
	user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(last)
	if user == nil || user[1] == "0" || user[2] == "0" {
		t.Fatalf("the image's user is %v, want numbers other than 0: it has no passwd file", user)
	}
	if want := "--chown=" + user[1] + ":" + user[2] + " /folders/ /"; !strings.Contains(last, want) || !strings.Contains(text, "/folders/archive") {
		t.Errorf("the archive's volume would not belong to the image's user: want COPY %s", want)
	}
	for _, name := range []string{"worker", "starter"} {
		s := load(t).Services[name]
		if s.User != "" {
			t.Errorf("%s runs as %s, not as the image's user", name, s.User)
		}
		if !slices.ContainsFunc(s.Volumes, func(m Mount) bool { return m.Target == "/archive" && m.Type == "volume" }) {
			t.Errorf("%s has no volume at /archive", name)
		}
	}
}

// TestEnvironmentIsKnown: each variable of the workers is one that the
// configuration or Temporal's SDK reads, and together they are a configuration.
func TestEnvironmentIsKnown(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"TEMPORAL_ADDRESS": true, "TEMPORAL_NAMESPACE": true}
	if _, err := config.Load(func(name string) string { known[name] = true; return "" }); err != nil {
		t.Fatal(err)
	}
	services := load(t).Services
	worker := services["worker"].Env()
	for name := range worker {
		if !known[name] {
			t.Errorf("worker: nobody reads %s", name)
		}
	}
	if starter := services["starter"].Env(); !maps.Equal(worker, starter) {
		t.Errorf("the starter's environment differs from the worker's: %v, %v", starter, worker)
	}
	if worker["TEMPORAL_ADDRESS"] == "" || worker["TEMPORAL_NAMESPACE"] != services["temporal-namespace"].Env()["TEMPORAL_NAMESPACE"] {
		t.Errorf("the workers' Temporal is not the one that is set up: %v", worker)
	}
	c, err := config.Load(func(name string) string { return worker[name] })
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Store, want.Archive = "postgres://recrawl:recrawl@postgres:5432/recrawl?sslmode=disable", "/archive"
	want.Metrics = ":9090"
	if !reflect.DeepEqual(c, want) {
		t.Errorf("configuration %+v, want %+v", c, want)
	}
}

// TestVariables sets each variable that the file offers and finds it where it
// belongs.
func TestVariables(t *testing.T) {
	t.Parallel()
	services := load(t, "RECRAWL_DB_PASSWORD=s3cret", "RECRAWL_CONTACT=ops@example.org", "RECRAWL_CONCURRENCY=7", "RECRAWL_LOG=warn", "RECRAWL_LOG_FORMAT=json", "RECRAWL_WEB_TOKEN=t0ken",
		"RECRAWL_WEB_READ_TOKEN=r3ad", "RECRAWL_WEB_HOSTS=crawl.example.org", "RECRAWL_WEB_UI=https://temporal.example.org").Services
	for _, c := range []struct{ service, name, want string }{
		{"postgres", "POSTGRES_PASSWORD", "s3cret"},
		{"temporal-schema", "SQL_PASSWORD", "s3cret"},
		{"temporal", "POSTGRES_PWD", "s3cret"},
		{"worker", "RECRAWL_STORE", "postgres://recrawl:s3cret@postgres:5432/recrawl?sslmode=disable"},
		{"worker", "RECRAWL_CONTACT", "ops@example.org"},
		{"worker", "RECRAWL_CONCURRENCY", "7"},
		{"worker", "RECRAWL_LOG", "warn"},
		{"worker", "RECRAWL_LOG_FORMAT", "json"},
		{"web", "RECRAWL_WEB_TOKEN", "t0ken"},
		{"web", "RECRAWL_WEB_READ_TOKEN", "r3ad"},
		{"web", "RECRAWL_WEB_HOSTS", "crawl.example.org"},
		{"web", "RECRAWL_WEB_UI", "https://temporal.example.org"},
		{"web", "RECRAWL_STORE", "postgres://recrawl:s3cret@postgres:5432/recrawl?sslmode=disable"},
	} {
		if got := services[c.service].Env()[c.name]; got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.name, c.service, got, c.want)
		}
	}
}

// Without further settings the page links to the Temporal UI that the file publishes.
func TestPageLinksToTheTemporalUI(t *testing.T) {
	t.Parallel()
	services := load(t, "RECRAWL_WEB_TOKEN=t0ken").Services
	ui := services["temporal-ui"].Ports[0]
	if got, want := services["web"].Env()["RECRAWL_WEB_UI"], fmt.Sprintf("http://%s:%s", ui.HostIP, ui.Published); got != want {
		t.Errorf("the page links to %q, and the Temporal UI is at %q", got, want)
	}
}

func TestLife(t *testing.T) {
	t.Parallel()
	p := load(t)
	if _, err := p.Order(); err != nil {
		t.Error(err)
	}
	for name, s := range p.Services {
		for before, d := range s.DependsOn {
			switch {
			case d.Condition != Healthy && d.Condition != Completed:
				t.Errorf("%s waits for %s only to be started", name, before)
			case d.Condition == Healthy && p.Services[before].Healthcheck == nil:
				t.Errorf("%s waits for %s to be healthy, which has no health check", name, before)
			case !d.Required:
				t.Errorf("%s starts without %s", name, before)
			}
		}
		switch {
		case p.Job(name):
			if !strings.HasPrefix(s.Restart, "on-failure:") {
				t.Errorf("%s is a job and is restarted %q", name, s.Restart)
			}
		case len(s.Profiles) > 0: // for commands
		case s.Restart != "unless-stopped" || s.Healthcheck == nil:
			t.Errorf("%s is a server, is restarted %q and has the health check %v", name, s.Restart, s.Healthcheck)
		}
	}
	worker := p.Services["worker"]
	if worker.Replicas() != 2 || worker.ContainerName != "" {
		t.Errorf("%d workers named %q, want 2 that can be more", worker.Replicas(), worker.ContainerName)
	}
	// A stopping worker gives its requests 40 s.
	if grace, err := time.ParseDuration(worker.StopGrace); err != nil || grace < 45*time.Second {
		t.Errorf("a worker has %q to stop in: %v", worker.StopGrace, err)
	}
	kept := map[string]string{"postgres": "/var/lib/postgresql/data", "worker": "/archive"}
	for name, target := range kept {
		if !slices.ContainsFunc(p.Services[name].Volumes, func(m Mount) bool { return m.Type == "volume" && m.Source != "" && m.Target == target }) {
			t.Errorf("%s keeps nothing of %s", name, target)
		}
	}
}

// TestNamespaceScript: the job registers the search attributes that the
// programs use, before the first worker does.
func TestNamespaceScript(t *testing.T) {
	t.Parallel()
	var names []string
	for _, m := range regexp.MustCompile(`--name (\w+) --type Keyword`).FindAllStringSubmatch(read(t, "deploy", "temporal", "namespace.sh"), -1) {
		names = append(names, m[1])
	}
	if want := contract.SearchAttributes(); !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(want))) {
		t.Errorf("the script registers %v, recrawl has %v", names, want)
	}
}
