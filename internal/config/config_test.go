package config

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/sink/program"
	"recrawl/internal/urlkey"
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

func TestLoad(t *testing.T) {
	t.Parallel()
	c, err := Load(env())
	if err != nil || !reflect.DeepEqual(c, Default()) {
		t.Errorf("an empty environment: %+v, %v, want the defaults", c, err)
	}
	c, err = Load(env(EnvStore, "postgres://crawler@db/recrawl", EnvArchive, "s3://bucket/recrawl", EnvContact, "ops@example.org",
		EnvData, "/var/lib/recrawl", EnvConcurrency, " 8 ", EnvLog, "DEBUG", EnvOverdue, "2d", EnvGroupHosts, "domain",
		EnvFilters, " adult=/opt/adult\tspam=/opt/spam ", EnvReserve, "2GiB", EnvTaskQueue, "crawl-2", EnvMetrics, ":9090", EnvLogFormat, "JSON",
		EnvSinkPrograms, "file=/opt/file kafka=stay:/opt/kafka", EnvSinkVariables, "KAFKA_BROKERS  APPRISE_URLS",
		EnvWorkflowTasks, "100", EnvLocalActivities, "200", EnvWorkflowPollers, "2-40", EnvActivityPollers, "6", EnvWorkflowCache, "0", EnvStopTimeout, "2m"))
	want := Config{
		Store: "postgres://crawler@db/recrawl", Archive: "s3://bucket/recrawl", Contact: "ops@example.org",
		Data: "/var/lib/recrawl", Concurrency: 8, Log: slog.LevelDebug, LogJSON: true, Metrics: ":9090", Overdue: 48 * time.Hour, GroupHosts: urlkey.ByDomain,
		Filters: map[string]string{"adult": "/opt/adult", "spam": "/opt/spam"}, Reserve: 2 << 30, TaskQueue: "crawl-2",
		SinkPrograms: program.Programs{"file": {Path: "/opt/file"}, "kafka": {Path: "/opt/kafka", Stays: true}}, SinkVariables: []string{"KAFKA_BROKERS", "APPRISE_URLS"},
		Worker: Worker{WorkflowTasks: 100, LocalActivities: 200, WorkflowPollers: Pollers{2, 40}, ActivityPollers: Pollers{6, 6}, StopTimeout: 2 * time.Minute},
	}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("everything set: %+v, %v, want %+v", c, err, want)
	}
}

func TestLoadEncryptionKeys(t *testing.T) {
	t.Parallel()
	c, err := Load(env(EnvEncryptionKeys, "new=env:NEW, old=env:OLD", "NEW", strings.Repeat("01", 32), "OLD", strings.Repeat("02", 32)))
	if err != nil || !c.Keys.Encrypts() {
		t.Fatalf("%+v, %v", c, err)
	}
	if key, _, err := c.Keys.Seal(nil); key != "new" || err != nil {
		t.Errorf("encrypts with %q, %v", key, err)
	}
}

func TestLoadMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, want string }{
		{EnvStore, "mysql://db", "RECRAWL_STORE: not a store: write sqlite:PATH or postgres://USER@HOST/DATABASE"},
		{EnvStore, "sqlite:", "RECRAWL_STORE: the sqlite: store has no path: write sqlite:PATH"},
		{EnvContact, "me", `RECRAWL_CONTACT: "me" is neither an http(s) URL nor a mail address`},
		{EnvConcurrency, "many", `RECRAWL_CONCURRENCY: "many" is not a number of requests: write 1 to 10000`},
		{EnvConcurrency, "0", `RECRAWL_CONCURRENCY: "0" is not a number of requests: write 1 to 10000`},
		{EnvLog, "loud", `RECRAWL_LOG: "loud" is not a level: write debug, info, warn or error`},
		{EnvLogFormat, "xml", `RECRAWL_LOG_FORMAT: "xml" is not a format of the log: write text or json`},
		{EnvMetrics, "9090", `RECRAWL_METRICS: "9090" is not an address to listen on: write HOST:PORT, or :PORT for all addresses of this machine, such as :9090`},
		{EnvMetrics, ":http", `RECRAWL_METRICS: ":http" is not an address to listen on: write HOST:PORT, or :PORT for all addresses of this machine, such as :9090`},
		{EnvOverdue, "60", `RECRAWL_OVERDUE: "60" is not a duration (unreadable): write a number with a unit, such as 10s, 36h or 7d`},
		{EnvGroupHosts, "site", `RECRAWL_GROUP_HOSTS: "site" is not a grouping of hosts: write host or domain`},
		{EnvFilters, "Adult=/opt/a", `RECRAWL_FILTERS: "Adult=/opt/a": write NAME=PATH, the name of 1 to 40 of a-z 0-9 . _ -`},
		{EnvDeployment, "my crawler", `RECRAWL_DEPLOYMENT: "my crawler" is not a worker deployment: write NAME, or NAME:BUILD, of letters, digits, - and _; in BUILD also + and dots`},
		{EnvReserve, "much", `RECRAWL_RESERVE: "much" is not a size: write a number of bytes with a unit, such as 512KiB or 10MiB`},
		{EnvFilters, "adult", `RECRAWL_FILTERS: adult: "" is not an absolute path`},
		{EnvFilters, "adult=bin/adult", `RECRAWL_FILTERS: adult: "bin/adult" is not an absolute path`},
		{EnvFilters, "a=/a a=/b", "RECRAWL_FILTERS: a is named twice"},
		{EnvSinkPrograms, "kafka=bin/kafka", `RECRAWL_SINK_PROGRAMS: kafka: "bin/kafka" is not an absolute path`},
		{EnvSinkVariables, "TOKEN=x", `RECRAWL_SINK_VARIABLES: "TOKEN=x" is not the name of a variable: write names only, with spaces between`},
		{EnvSinkFolders, "docs=docs", `RECRAWL_SINK_FOLDERS: docs: "docs" is not an absolute path`},
		{EnvTaskQueue, "my queue", `RECRAWL_TASK_QUEUE: "my queue" cannot name a task queue: use 1 to 100 of A-Z a-z 0-9 . _ -, starting with a letter or digit`},
		{EnvTaskQueue, "/_sys/recrawl", `RECRAWL_TASK_QUEUE: "/_sys/recrawl" cannot name a task queue: use 1 to 100 of A-Z a-z 0-9 . _ -, starting with a letter or digit`},
		{EnvWorkflowTasks, "1", `RECRAWL_WORKFLOW_TASKS: "1" is not a number of 2 to 100000`},
		{EnvWorkflowCache, "-1", `RECRAWL_WORKFLOW_CACHE: "-1" is not a number of 0 to 1000000`},
		{EnvLocalActivities, "all", `RECRAWL_LOCAL_ACTIVITIES: "all" is not a number of 1 to 100000`},
		{EnvWorkflowPollers, "1", `RECRAWL_WORKFLOW_POLLERS: "1" is not a number of pollers: write one, or MIN-MAX to have it follow the backlog, of 2 to 1000`},
		{EnvActivityPollers, "9-4", `RECRAWL_ACTIVITY_POLLERS: "9-4" is not a number of pollers: write one, or MIN-MAX to have it follow the backlog, of 1 to 1000`},
		{EnvStopTimeout, "2h", "RECRAWL_STOP_TIMEOUT: 2h is too long: write at most 1h"},
		{EnvEncryptionKeys, "k1=c2VjcmV0", "RECRAWL_ENCRYPTION_KEYS: k1: say where the key is, with file:PATH or env:VARIABLE; a key itself is not taken here, where logs and process lists may show it"},
		{EnvEncryptionKeys, "k1=env:NO_SUCH", "RECRAWL_ENCRYPTION_KEYS: k1: the variable NO_SUCH is empty"},
		{EnvOverdue, "1ms", "RECRAWL_OVERDUE: 1ms is too short: write at least 1s"},
	} {
		if _, err := Load(env(c.name, c.value)); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: %v, want %q", c.name, c.value, err, c.want)
		}
	}
	_, err := Load(env(EnvStore, "x", EnvLog, "loud", EnvOverdue, "-1h"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three mistakes: %v, want three lines", err)
	}
	if _, err := Load(env(EnvStore, "postgress://u:secret@db")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a wrong DSN: %v, want an error without the password", err)
	}
}

func TestLongestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for _, c := range []struct {
		name, value string
		ok          bool
	}{
		{EnvTaskQueue, strings.Repeat("a", 100), true},
		{EnvTaskQueue, strings.Repeat("a", 101), false},
		{EnvDeployment, long, true},
		{EnvDeployment, long + "a", false},
		{EnvDeployment, long + ":" + long, true},
		{EnvDeployment, "a:" + long + "a", false},
		{EnvDeployment, "a:1.0+2", true},
		{EnvDeployment, "a.b:1", false},
		{EnvDeployment, "a:", false},
		{EnvDeployment, ":1", false},
		{EnvDeployment, "a:1:2", false},
	} {
		if _, err := Load(env(c.name, c.value)); (err == nil) != c.ok {
			t.Errorf("%s=%s: %v, want it taken: %v", c.name, c.value, err, c.ok)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dev := t.TempDir()
	write(t, dev, `{"pid":12,"store":"sqlite:/d/recrawl.db","archive":"/d/archive","temporal_address":"127.0.0.1:7233","temporal_namespace":"dev","task_queue":"q","later":1}`)
	broken := t.TempDir()
	write(t, broken, `{"pid":`)
	for _, c := range []struct {
		name  string
		flags Overrides
		env   []string
		want  Places
	}{
		{"nothing named", Overrides{Data: "none"}, nil, Places{Data: "none"}},
		{
			"the data folder",
			Overrides{Data: dev},
			nil,
			Places{Store: "sqlite:/d/recrawl.db", Archive: "/d/archive", Data: dev, Address: "127.0.0.1:7233", Namespace: "dev", TaskQueue: "q", FromDev: true, OfFolder: true},
		},
		{
			"the data folder of the environment",
			Overrides{},
			[]string{EnvData, dev},
			Places{Store: "sqlite:/d/recrawl.db", Archive: "/d/archive", Data: dev, Address: "127.0.0.1:7233", Namespace: "dev", TaskQueue: "q", FromDev: true, OfFolder: true},
		},
		{
			"environment before data folder",
			Overrides{Data: dev},
			[]string{EnvStore, "sqlite:b", "TEMPORAL_ADDRESS", "t:1"},
			Places{Store: "sqlite:b", Data: dev},
		},
		{
			"a profile before the data folder",
			Overrides{Data: dev},
			[]string{"TEMPORAL_PROFILE", "cloud"},
			Places{Store: "sqlite:/d/recrawl.db", Archive: "/d/archive", Data: dev, OfFolder: true},
		},
		{
			"namespace of the environment",
			Overrides{Data: dev},
			[]string{"TEMPORAL_NAMESPACE", "mine"},
			Places{Store: "sqlite:/d/recrawl.db", Archive: "/d/archive", Data: dev, Address: "127.0.0.1:7233", TaskQueue: "q", FromDev: true, OfFolder: true},
		},
		{
			"flag before environment",
			Overrides{Data: broken, Store: "sqlite:a", Archive: "x", Address: "t:2", Namespace: "n"},
			[]string{EnvStore, "sqlite:b", EnvArchive, "y", "TEMPORAL_ADDRESS", "t:1"},
			Places{Store: "sqlite:a", Archive: "x", Data: broken, Address: "t:2", Namespace: "n"},
		},
	} {
		conf, err := Load(env(c.env...))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Resolve(c.flags, conf, env(c.env...)); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
	if _, err := Resolve(Overrides{Data: broken}, Default(), env()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged state file: %v", err)
	}
	if _, err := Resolve(Overrides{Store: "here"}, Default(), env()); err == nil {
		t.Error("a wrong --store is accepted")
	}
}

// A password on the command line is refused, in whatever form, and never repeated.
func TestPasswordOnTheCommandLine(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://u:hunter2@h/db", "postgresql://u:hunter2@h:5432,g:5433/db?sslmode=disable", "postgres://:hunter2@h/db", "postgres://u:hunter2@/db?host=/run",
		"postgres://h/db?password=hunter2", "postgres://u@h/db?sslmode=require&Password=hunter2", "postgres://u@h/db?pass%77ord=hunter2", "postgres://h/db?sslpassword=hunter2",
		"postgres://u:%68unter2@h/db", "postgres://u:hun@ter2@h/db", "postgres://u:hunter2?x@h/db", "postgres://u:hunter2@[h/db", "postgres://u:hunter2%zz@h/db",
		"host=h user=u password=hunter2", "host=h password = 'hunter2'", "PASSWORD=hunter2", "mysql://u:hunter2@h/db",
	} {
		_, err := Resolve(Overrides{Store: dsn}, Default(), env())
		if err == nil || strings.Contains(err.Error(), "ter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("--store %s: %v, want one line without the password", dsn, err)
			continue
		}
		for _, want := range []string{"--store", EnvStore, "PGPASSFILE"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("--store %s: %v, want %q in it", dsn, err, want)
			}
		}
		if strings.HasPrefix(dsn, "postgres") && !isAmbiguous(dsn) {
			if p, err := Resolve(Overrides{}, Config{Store: dsn}, env()); err != nil || p.Store != dsn {
				t.Errorf("%s=%s: %v", EnvStore, dsn, err)
			}
		}
	}
	for _, dsn := range []string{
		"postgres://h/db", "postgres://u@h:5432/db?sslmode=disable", "postgres://u:@h/db", "postgres:///db?host=/run", "postgres://u@h/db?passfile=/home/u/.pgpass",
		"postgres://h/db?password=", "postgres://[::1]:5432/db", "sqlite:/tmp/u:x@h?password=y", "postgres://u@h/db?application_name=a@b",
	} {
		if _, err := Resolve(Overrides{Store: dsn}, Default(), env()); err != nil {
			t.Errorf("--store %s: %v", dsn, err)
		}
	}
	for _, dsn := range []string{"postgres://u:hun@ter2@h/db", "postgres://u:hun/ter2@h/db", "postgres://hun/ter2@h/db"} {
		if _, err := Load(env(EnvStore, dsn)); err == nil || strings.Contains(err.Error(), "ter2") || !strings.Contains(err.Error(), "%40") {
			t.Errorf("%s=%s: %v, want what is wrong, without the password", EnvStore, dsn, err)
		}
	}
}

func TestReadDevStateUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, StateFile), 0o755); err != nil {
		t.Fatal(err)
	}
	var pathErr *os.PathError
	if _, err := ReadDevState(dir); !errors.As(err, &pathErr) {
		t.Errorf("a folder in the file's place: %v, want the path error", err)
	}
}

// A data folder that was copied or moved has its own store and archive, and not the
// original's Temporal, which has other workflows.
func TestFoldersThatWereCopiedOrMoved(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	folder := func(name string, recorded string, files ...string) string {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(t, dir, fmt.Sprintf(`{"pid":1,"store":"sqlite:%[1]s/recrawl.db","archive":"%[1]s/archive","temporal_address":"127.0.0.1:1","temporal_namespace":"n","temporal_ui":"u","web":"w","task_queue":"q","temporal_pid":2}`, recorded))
		return dir
	}
	orig, gone := filepath.Join(parent, "orig"), filepath.Join(parent, "gone")
	folder("orig", orig, "recrawl.db")
	link := filepath.Join(parent, "link")
	if err := os.Symlink(orig, link); err != nil {
		t.Fatal(err)
	}
	at := func(dir string) Places {
		return Places{Store: "sqlite:" + filepath.Join(dir, "recrawl.db"), Archive: filepath.Join(dir, "archive"), Namespace: "n", TaskQueue: "q", OfFolder: true}
	}
	for _, c := range []struct {
		name, data string
		store      string // the folder of the store and archive
		from       string // "" if the recorded Temporal is the folder's
	}{
		{"where it was", orig, orig, ""},
		{"through a link", link, orig, ""},
		{"a copy", folder("copy", orig, "recrawl.db"), filepath.Join(parent, "copy"), orig},
		{"moved", folder("moved", gone, "recrawl.db"), filepath.Join(parent, "moved"), gone},
		{"a pointer to another folder", folder("pointer", orig), orig, ""},
	} {
		p, err := Resolve(Overrides{Data: c.data}, Default(), env())
		want := at(c.store)
		want.Data = c.data
		if c.from == "" {
			want.Address, want.FromDev = "127.0.0.1:1", true
		} else {
			want.Namespace, want.TaskQueue = "", ""
			want.NoTemporal = fmt.Sprintf("data folder %s was copied or moved from %s: run `starter dev --data %s` on it first", c.data, c.from, c.data)
		}
		if err != nil || p != want {
			t.Errorf("%s: %+v, %v\nwant %+v", c.name, p, err, want)
		}
		state, err := ReadDevState(c.data)
		if err != nil || state.MovedFrom != c.from || (state.PID == 0) != (c.from != "") || (state.TemporalPID == 0) != (c.from != "") || (state.Web == "") != (c.from != "") {
			t.Errorf("%s: %+v, %v", c.name, state, err)
		}
	}

	moved := filepath.Join(parent, "copy")
	for _, c := range []struct {
		flags Overrides
		env   []string
		asks  bool
	}{
		{Overrides{Data: moved, Address: "t:1"}, nil, true},
		{Overrides{Data: moved}, []string{"TEMPORAL_ADDRESS", "t:1"}, true},
		{Overrides{Data: moved, Store: "sqlite:b"}, nil, false},
	} {
		if p, err := Resolve(c.flags, Default(), env(c.env...)); err != nil || (p.NoTemporal == "") != c.asks {
			t.Errorf("%+v with %q: %+v, %v", c.flags, c.env, p, err)
		}
	}
}

// A data folder that was restored has no Temporal until its first start: the one at the usual
// address is another's.
func TestFolderThatNeverRan(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	write(t, data, `{"store":"sqlite:/d/recrawl.db","archive":"/d/archive"}`)
	p, err := Resolve(Overrides{Data: data}, Default(), env())
	if err != nil || !strings.Contains(p.NoTemporal, "no `starter dev` has run on data folder "+data) {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = Resolve(Overrides{Data: data, Store: "sqlite:b"}, Default(), env()); err != nil || p.NoTemporal != "" {
		t.Errorf("another store: %+v, %v", p, err)
	}
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, StateFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLocalFolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		store, archive string
		want           []string
	}{
		{"sqlite:/d/recrawl.db", "/d/archive", []string{"/d", "/d/archive"}},
		{"sqlite:recrawl.db", "dir:files", []string{".", "files"}},
		{"postgres://u@db/recrawl", "s3://bucket", nil},
		{"", "", nil},
	} {
		if got := LocalFolders(c.store, c.archive); !slices.Equal(got, c.want) {
			t.Errorf("%s and %s: %v, want %v", c.store, c.archive, got, c.want)
		}
	}
}

func TestVersionText(t *testing.T) {
	if got := VersionText(); !regexp.MustCompile(`^` + regexp.QuoteMeta(Release) + `(\+[0-9a-f-]+)?$`).MatchString(got) {
		t.Errorf("this is version %q of release %s", got, Release)
	}
}
