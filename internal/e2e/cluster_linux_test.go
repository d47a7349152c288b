package e2e

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/deploytest"
	"recrawl/internal/store/storetest/pgtest"
	"recrawl/internal/testsite"
)

const (
	clusterGap       = 40 * time.Millisecond
	clusterTimeLimit = 5 * time.Second
	// clusterPermit is the lifetime of a permit: the request's time limit and the store's
	// grace.
	clusterPermit = clusterTimeLimit + 10*time.Second
)

// TestCluster runs docker-compose.yml without containers: its jobs, its Temporal
// server and its workers, by its own commands and environment, on a throw-away
// Postgres. A worker is killed in the middle of a request; another one is
// stopped between Begin and its request, and continued when the permit has
// expired and the host is in use again. The first pass is completed all the
// same, and the site sees no request too many, too early or too late. Then a page for which a
// person asks overtakes others that wait for a worker, and the page for operators, by its own
// command too, shows the crawl to who has the token.
func TestCluster(t *testing.T) {
	sideBySide(t, 120)
	pages, rounds := 80, 1
	if long() {
		pages, rounds = 1000, 8
	}
	s := serveTLS(t, tree(pages))
	c := startCluster(t, "SSL_CERT_FILE="+s.certificate)
	// Pages are visited again and again, so that there is always a request to wait for.
	c.starter("crawl", "t", s.url+"/", "--delay", clusterGap.String(), "--factor", "0", "--policy", "fixed",
		"--default-interval", "30s", "--min-interval", "1s", "--maintain-every", "2s", "--time-limit", clusterTimeLimit.String())
	for round := range rounds {
		s.progress(c, 8)
		c.killInRequest(s)
		s.progress(c, 4)
		c.stopBeforeRequest(s, round%2 == 1)
		s.progress(c, 4)
	}
	c.finish(pages)
	c.checkOvertaking(s, pages)
	c.checkPage("t")
	seen := map[string]bool{}
	for _, path := range []string{"/", "/p1.html", "/p7.html"} {
		for line := range strings.Lines(c.starter("--output", "json", "history", s.url+path)) {
			var v visitLine
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			if key := fmt.Sprint(path, v.Visit); seen[key] {
				t.Errorf("visit %d of %s was recorded twice", v.Visit, path)
			} else {
				seen[key] = true
			}
		}
	}
	s.checkPolite(t, clusterGap)
	s.checkStale(t)
	for _, w := range c.of["worker"] {
		c.mustRun("worker", w)
	}
}

// TestDynamicConfig lets the server check its file: unknown settings only cause a warning.
func TestDynamicConfig(t *testing.T) {
	sideBySide(t, 2)
	c := &cluster{t: t}
	c.findPrograms()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "deploy", "temporal", "prod.yaml")
	out, code, problem := run(t, c.program("temporal-server"), "validate-dynamic-config", file)
	if code != 0 || strings.TrimSpace(out) != file {
		t.Errorf("the server says of its dynamic configuration: %d: %s%s", code, out, problem)
	}
}

// cluster is docker-compose.yml run without containers. What the container
// engine would do is done here: names become addresses, mounts become folders,
// ports are moved to free ones, and processes are started in the order of their
// dependencies.
type cluster struct {
	t        *testing.T
	project  deploytest.Project
	path     string // folder of the images' programs
	volumes  string // folder of the named volumes
	postgres *pgtest.Server
	database string            // Postgres' port
	names    *strings.Replacer // host:port of a service
	words    map[string]string // whole values
	ports    []string          // the server's other ports
	more     []string          // environment besides the file's, for the workers
	metrics  string            // where the last worker that was started listens, as a variable
	of       map[string][]*process
}

// pageToken is the token of the cluster's page for operators.
const pageToken = "the-token-of-the-operators"

func startCluster(t *testing.T, more ...string) *cluster {
	t.Helper()
	project, err := deploytest.Load(t.Context(), "RECRAWL_WEB_TOKEN="+pageToken)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, project: project, volumes: t.TempDir(), more: more, of: map[string][]*process{}}
	c.findPrograms()
	order, err := project.Order()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range order {
		if service := project.Services[name]; len(service.Profiles) == 0 {
			c.up(name, service)
		}
	}
	return c
}

// up starts one service as `docker compose up` does: a job must succeed, a
// server runs on. Each job runs twice, since every `up` runs it again.
func (c *cluster) up(name string, service deploytest.Service) {
	c.t.Helper()
	switch {
	case name == "postgres":
		c.startPostgres(service)
	case name == "temporal-ui": // nothing depends on it
	case c.project.Job(name):
		for range 2 {
			argv := c.argv(service)
			if out, code, problem := runEnv(c.t, c.env(service), argv[0], argv[1:]...); code != 0 {
				c.t.Fatalf("the job %s ended with %d: %s%s", name, code, out, problem)
			}
		}
	case name == "temporal":
		for !c.listens(c.start(name)) {
			c.connect() // another process was quicker to take a port
		}
	default:
		for range service.Replicas() {
			c.start(name)
		}
		for i := range c.of[name] {
			c.awaitReady(name, i)
		}
		c.checkHealth(name, service)
	}
}

// awaitReady waits until a worker is ready. One that ended because Temporal is too busy
// to answer at first is started again, as the file's restart policy does.
func (c *cluster) awaitReady(name string, i int) {
	c.t.Helper()
	c.await(name+" is ready", func() bool {
		p := c.of[name][i]
		select {
		case <-p.done:
			if out := p.out.String(); c.project.Services[name].Restart != "unless-stopped" || !strings.Contains(out, silentTemporal) {
				c.t.Fatalf("%s ended: %s", name, out)
			}
			again := c.start(name)
			c.of[name] = slices.DeleteFunc(c.of[name], func(p *process) bool { return p == again })
			c.of[name][i] = again
		default:
		}
		return strings.Contains(p.out.String(), "worker ready")
	})
}

// listens waits until the Temporal server listens, or has ended because one of its ports is
// taken.
func (c *cluster) listens(server *process) (up bool) {
	c.t.Helper()
	c.await("Temporal listens", func() bool {
		conn, err := (&net.Dialer{}).DialContext(c.t.Context(), "tcp", c.names.Replace("temporal:7233"))
		if err == nil {
			conn.Close()
		}
		select {
		case <-server.done: // so another process listens, if any
			if out := server.out.String(); !strings.Contains(out, "address already in use") {
				c.t.Fatalf("the Temporal server ended: %s", out)
			}
			return true
		default:
		}
		up = err == nil
		return up
	})
	return up
}

// checkHealth waits until a service's health check succeeds.
func (c *cluster) checkHealth(name string, service deploytest.Service) {
	c.t.Helper()
	test := service.Healthcheck.Test
	if test[0] != "CMD" {
		c.t.Fatalf("%s: the health check %v needs a shell, which its image has not", name, test)
	}
	argv := slices.Clone(test[1:])
	for i := range argv {
		argv[i] = c.translate(service, argv[i])
	}
	c.await(fmt.Sprintf("%s is healthy by %v", name, argv), func() bool {
		_, code, _ := runEnv(c.t, append(c.env(service), c.metrics), c.program(argv[0]), argv[1:]...)
		return code == 0
	})
}

// checkPage starts the service web, of the profile of the same name, and asks it for a
// crawl, with the token and without.
func (c *cluster) checkPage(crawl string) {
	c.t.Helper()
	service := c.project.Services["web"]
	web := c.start("web")
	c.checkHealth("web", service)
	c.mustRun("web", web)
	for token, want := range map[string]int{"": http.StatusUnauthorized, "Bearer " + pageToken: http.StatusOK} {
		r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, "http://"+c.words[pageListens]+"/crawls/"+crawl, nil)
		if err != nil {
			c.t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			c.t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != want || want == http.StatusOK && !strings.Contains(string(text), "<h1>"+crawl) {
			c.t.Errorf("with the token %q: %d %v\n%s", token, answer.StatusCode, err, text)
		}
	}
}

// pageListens is where the service web listens in its container.
const pageListens = "0.0.0.0:8234"

// start starts one process of a service.
func (c *cluster) start(name string) *process {
	c.t.Helper()
	service := c.project.Services[name]
	argv := c.argv(service)
	env := c.env(service)
	if name == "worker" { // the containers have an address each, and here all have one
		c.metrics = "RECRAWL_METRICS=127.0.0.1:" + freePort(c.t)
		env = append(append(env, c.more...), c.metrics)
	}
	p := startProcess(c.t, env, argv[0], argv[1:]...)
	c.of[name] = append(c.of[name], p)
	return p
}

// startPostgres gives the cluster a Postgres with the user and the database that
// the image would make.
func (c *cluster) startPostgres(service deploytest.Service) {
	c.t.Helper()
	server, err := pgtest.Start(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			c.t.Error(err)
		}
	})
	c.postgres = server
	dsn, err := url.Parse(server.DSN())
	if err != nil {
		c.t.Fatal(err)
	}
	env := service.Env()
	if dsn.User.Username() != env["POSTGRES_USER"] {
		c.t.Fatalf("the file's user is %s, the test's server has %s", env["POSTGRES_USER"], dsn.User)
	}
	conn, err := pgx.Connect(c.t.Context(), server.DSN())
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(c.t.Context())
	if _, err := conn.Exec(c.t.Context(), "CREATE DATABASE "+pgx.Identifier{env["POSTGRES_DB"]}.Sanitize()); err != nil {
		c.t.Fatal(err)
	}
	c.database = dsn.Port()
	c.connect()
}

// connect lays the network: each service's name and port, on loopback.
func (c *cluster) connect() {
	c.t.Helper()
	frontend := freePort(c.t)
	c.names = strings.NewReplacer("postgres:5432", "127.0.0.1:"+c.database, "temporal:7233", "127.0.0.1:"+frontend)
	c.words = map[string]string{"postgres": "127.0.0.1", "5432": c.database, "0.0.0.0": "127.0.0.1", pageListens: "127.0.0.1:" + freePort(c.t)}
	c.ports = []string{"FRONTEND_GRPC_PORT=" + frontend}
	for _, name := range []string{
		"FRONTEND_HTTP_PORT", "FRONTEND_MEMBERSHIP_PORT", "HISTORY_GRPC_PORT", "HISTORY_MEMBERSHIP_PORT",
		"MATCHING_GRPC_PORT", "MATCHING_MEMBERSHIP_PORT", "WORKER_GRPC_PORT", "WORKER_MEMBERSHIP_PORT",
	} {
		c.ports = append(c.ports, name+"="+freePort(c.t))
	}
}

// env returns a service's environment, with nothing of ours except PATH and an empty home.
func (c *cluster) env(service deploytest.Service) []string {
	env := append(cleanEnv(c.t), c.ports...)
	env = append(env, "PATH="+c.path+":"+os.Getenv("PATH"))
	for _, name := range slices.Sorted(maps.Keys(service.Env())) {
		env = append(env, name+"="+c.translate(service, service.Env()[name]))
	}
	return env
}

// argv returns a service's command.
func (c *cluster) argv(service deploytest.Service) []string {
	c.t.Helper()
	// The command that the entry point of the server's image ends in.
	argv := slices.Clone(service.Argv("temporal-server", "start"))
	for i := range argv {
		argv[i] = c.translate(service, argv[i])
	}
	argv[0] = c.program(argv[0])
	return argv
}

// translate replaces a value of the file by the one that the engine would set.
func (c *cluster) translate(service deploytest.Service, value string) string {
	for _, m := range service.Volumes {
		if rest, ok := strings.CutPrefix(value, m.Target); ok && (rest == "" || rest[0] == '/') {
			if m.Type == "bind" {
				return m.Source + rest
			}
			return filepath.Join(c.volumes, m.Source) + rest
		}
	}
	if word, ok := c.words[value]; ok {
		return word
	}
	return c.names.Replace(value)
}

// findPrograms lays the programs of the images into one folder, under the names
// that they have there.
func (c *cluster) findPrograms() {
	c.t.Helper()
	root, err := moduleRoot()
	if err != nil {
		c.t.Fatal(err)
	}
	c.path = c.t.TempDir()
	for name, path := range map[string]string{
		"worker": programs.worker, "starter": programs.starter, "temporal": programs.temporal,
		"temporal-server":   filepath.Join(root, "bin", "temporal-server"),
		"temporal-sql-tool": filepath.Join(root, "bin", "temporal-sql-tool"),
	} {
		if _, err := os.Stat(path); err != nil {
			c.t.Fatalf("a program is missing (%v): run `make temporal-server`", err)
		}
		if err := os.Symlink(path, filepath.Join(c.path, name)); err != nil {
			c.t.Fatal(err)
		}
	}
}

// program finds a program of the images; a full path stays.
func (c *cluster) program(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.path, name)
}

// starter runs a command in the service starter; it must succeed.
func (c *cluster) starter(args ...string) string {
	c.t.Helper()
	out, code, problem := c.try(args...)
	if code != 0 {
		c.t.Fatalf("starter %s: %d: %s", strings.Join(args, " "), code, problem)
	}
	return out
}

// try runs a command in the service starter.
func (c *cluster) try(args ...string) (stdout string, code int, stderr string) {
	c.t.Helper()
	service := c.project.Services["starter"]
	service.Command = args
	argv := c.argv(service)
	return insist(c.t, strings.Join(argv, " "), func() (string, int, string) {
		return runEnv(c.t, c.env(service), argv[0], argv[1:]...)
	})
}

// finish waits until all pages are visited.
func (c *cluster) finish(pages int) {
	c.t.Helper()
	c.await("every page is visited", func() bool {
		visited := 0
		for _, p := range decodeLines[pageLine](c.t, c.starter("--output", "json", "pages", "t", "--limit", "0")) {
			if p.Visits > 0 {
				visited++
			}
		}
		return visited == pages
	})
}

func (c *cluster) await(what string, holds func() bool) {
	c.t.Helper()
	d := &dev{t: c.t, out: &syncBuffer{}}
	for _, name := range []string{"temporal", "worker"} {
		if n := len(c.of[name]); n > 0 {
			d.out = c.of[name][n-1].out
		}
	}
	d.await(what, holds)
}

func (c *cluster) mustRun(name string, p *process) {
	c.t.Helper()
	select {
	case <-p.done:
		c.t.Fatalf("%s ended: %s", name, p.out)
	default:
	}
}

// killInRequest kills a worker while the site handles its request, and starts
// another one as the file's restart policy does.
func (c *cluster) killInRequest(s *secureSite) {
	c.t.Helper()
	killed := make(chan *process, 1)
	s.set(&s.onRequest, func(peer net.Addr) bool {
		w := c.owner(peer)
		if w == nil {
			return false
		}
		w.kill()
		killed <- w
		return true
	})
	w := receive(c.t, killed, "a request to kill a worker in")
	c.of["worker"] = slices.DeleteFunc(c.of["worker"], func(p *process) bool { return p == w })
	if policy := c.project.Services["worker"].Restart; policy == "unless-stopped" {
		c.start("worker")
	}
}

// stopBeforeRequest stops a worker whose permit has begun and whose connection
// stands, but whose request is not written: the site holds up the handshake in between. The
// worker is continued when the permit has expired and another worker makes requests, with
// the handshake's answer already in its buffer. Long: not before the server has given up
// its activity too, for lack of heartbeats.
func (c *cluster) stopBeforeRequest(s *secureSite, long bool) {
	c.t.Helper()
	type stop struct {
		worker *process
		peer   net.Addr
		at     time.Time
	}
	stopped, answer := make(chan stop, 1), make(chan struct{})
	s.set(&s.onHandshake, func(peer net.Addr) bool {
		w := c.owner(peer)
		if w == nil {
			return false
		}
		if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			c.t.Error(err)
		}
		stopped <- stop{w, peer, time.Now()}
		select {
		case <-answer:
		case <-c.t.Context().Done():
		}
		return true
	})
	w := receive(c.t, stopped, "a handshake to stop a worker in")
	before := s.total()
	c.await("another worker goes on", func() bool { return s.total() >= before+3 })
	// The permit began after the request before had ended.
	log := s.requests()
	if held := log[before].begin.Sub(log[before-1].end); held < clusterPermit {
		c.t.Errorf("the host was asked again after %s, but a worker was stopped with a permit of %s", held, clusterPermit)
	}
	if long {
		c.await("the server has given up the stopped worker's activity", func() bool { return time.Since(w.at) > 25*time.Second })
	}
	s.expire(w.peer)
	sent := make(chan struct{})
	s.set(&s.onAnswer, func(peer net.Addr) bool {
		if peer.String() != w.peer.String() {
			return false
		}
		close(sent)
		return true
	})
	close(answer)
	receive(c.t, sent, "the handshake is answered")
	if err := w.worker.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		c.t.Fatal(err)
	}
	c.await("the continued worker gives up its connection", func() bool { return s.closed(w.peer) })
	again := make(chan struct{})
	s.set(&s.onRequest, func(peer net.Addr) bool {
		if c.owner(peer) != w.worker {
			return false
		}
		close(again)
		return true
	})
	receive(c.t, again, "the continued worker works on")
}

// owner finds the worker that has the other end of a connection; nil when it has
// closed it.
func (c *cluster) owner(peer net.Addr) *process {
	socket, err := socketOf(peer)
	if err != nil {
		c.t.Error(err)
		return nil
	}
	for _, w := range c.of["worker"] {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", w.cmd.Process.Pid))
		if err != nil {
			c.t.Error(err)
		}
		for _, file := range files {
			if target, err := os.Readlink(file); err == nil && target == socket {
				return w
			}
		}
	}
	return nil
}

// socketOf names the socket with this address as its own end, as
// /proc/PID/fd does; "" if there is none.
func socketOf(local net.Addr) (string, error) {
	address, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return "", err
	}
	ip := address.Addr().Unmap().As4()
	want := fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(ip[:]), address.Port())
	file, err := os.Open("/proc/net/tcp")
	if err != nil {
		return "", err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		if fields := strings.Fields(scanner.Text()); len(fields) > 9 && fields[1] == want {
			return "socket:[" + fields[9] + "]", nil
		}
	}
	return "", scanner.Err()
}

// secureSite is a site over TLS. Between a connection and its request lies a
// handshake, which the site can hold up.
type secureSite struct {
	site
	certificate string // file

	mu sync.Mutex
	// onHandshake is called at a handshake's begin, onAnswer when its answer is
	// written, onRequest at a request; each until it returns true.
	onHandshake, onAnswer, onRequest func(peer net.Addr) bool

	stale map[string]bool // peers of open connections whose permit has expired
	late  []string        // requests that came on such
}

func serveTLS(t *testing.T, h http.Handler) *secureSite {
	t.Helper()
	s := &secureSite{site: site{limit: clusterTimeLimit}, stale: map[string]bool{}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		peer := peerAddr(r.RemoteAddr)
		s.mu.Lock()
		if s.stale[r.RemoteAddr] {
			s.late = append(s.late, r.URL.Path)
		}
		s.mu.Unlock()
		s.call(&s.onRequest, peer)
		rec := &statusWriter{ResponseWriter: w, status: 200}
		h.ServeHTTP(rec, r)
		end := s.ended(r, begin, time.Now())
		s.site.mu.Lock()
		defer s.site.mu.Unlock()
		s.log = append(s.log, request{path: r.URL.RequestURI(), begin: begin, end: end, status: rec.status, etag: r.Header.Get("If-None-Match")})
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.stale, conn.RemoteAddr().String()) // another one may get the port
		}
	}
	server.Listener = testsite.TellFirstWrites(server.Listener, func(peer net.Addr) { s.call(&s.onAnswer, peer) })
	server.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		s.call(&s.onHandshake, hello.Conn.RemoteAddr())
		return nil, nil
	}}
	server.StartTLS()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.url = server.URL
	s.certificate = filepath.Join(t.TempDir(), "certificate.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(s.certificate, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func peerAddr(text string) net.Addr {
	address, err := netip.ParseAddrPort(text)
	if err != nil {
		panic(err) // the server made it
	}
	return net.TCPAddrFromAddrPort(address)
}

// set sets what happens at each handshake or request until do returns true.
func (s *secureSite) set(hook *func(net.Addr) bool, do func(peer net.Addr) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*hook = do
}

// call runs a hook. The host is asked once at a time, so hooks run one at a
// time, unless that is broken; so each is taken out while it runs.
func (s *secureSite) call(hook *func(net.Addr) bool, peer net.Addr) {
	s.mu.Lock()
	do := *hook
	*hook = nil
	s.mu.Unlock()
	if do != nil && !do(peer) {
		s.set(hook, do)
	}
}

func (s *secureSite) total() int { return len(s.requests()) }

// progress waits for more requests.
func (s *secureSite) progress(c *cluster, more int) {
	c.t.Helper()
	before := s.total()
	c.await("the crawl goes on", func() bool { return s.total() >= before+more })
}

// expire marks a connection whose permit has expired: from now on nothing may
// come from it.
func (s *secureSite) expire(peer net.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale[peer.String()] = true
}

// closed reports whether an expired connection is closed.
func (s *secureSite) closed(peer net.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.stale[peer.String()]
}

// checkStale asserts that nothing came on expired connections.
func (s *secureSite) checkStale(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.late {
		t.Errorf("a continued worker asked for %s, for which its permit had expired", path)
	}
}
