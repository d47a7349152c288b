package testsite

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawl/internal/fetch"
	"recrawl/internal/urlkey"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// handClock is moved by hand; waiting on it moves it too.
type handClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *handClock) After(d time.Duration) <-chan time.Time {
	done := make(chan time.Time, 1)
	done <- c.move(d)
	return done
}

func (c *handClock) move(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	return c.at
}

// stage is a site whose time stands still.
type stage struct {
	*Site
	clock *handClock
}

func play(o Options) stage {
	clock := &handClock{at: epoch}
	o.Start, o.Clock = epoch, clock
	return stage{New(o), clock}
}

// to moves the clock to a time since the start.
func (s stage) to(elapsed time.Duration) { s.clock.move(elapsed - s.elapsed()) }

// get asks for "host/path", with header fields in pairs.
func (s stage) get(target string, header ...string) *httptest.ResponseRecorder {
	host, path, _ := strings.Cut(target, "/")
	r := httptest.NewRequest(http.MethodGet, "http://"+host+":8042/"+path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestOverTheWire(t *testing.T) {
	t.Parallel()
	s := New(Options{Seed: 1})
	if err := s.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, seed := range s.Seeds() {
		u, err := urlkey.Canonical(seed)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		got := fetch.New(fetch.Options{}).Do(t.Context(), fetch.Request{
			URL: u, UserAgent: "recrawl/test", MaxBody: 1 << 20, Deadline: time.Now().Add(10 * time.Minute),
			AllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		}, &body)
		if !got.Content || !strings.Contains(body.String(), "<header>"+u.Hostname()+"</header>") {
			t.Errorf("%s: %+v", seed, got)
		}
	}
	log := s.Log()
	if len(log) != len(Demo()) || log[0].UserAgent != "recrawl/test" || log[0].Status != http.StatusOK {
		t.Errorf("log %+v", log)
	}
	if breaches := CheckPolite(log, 0); len(breaches) > 0 {
		t.Errorf("%v", breaches)
	}
}

func TestStartOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	defer s.Close()
	if err := s.Start(t.Context(), ":0"); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("%v", err)
	}
}

func TestScriptIsChecked(t *testing.T) {
	t.Parallel()
	for name, hosts := range map[string][]Host{
		"not under localhost": {{Name: "example.com"}},
		"admin's name":        {{Name: AdminHost}},
		"host twice":          {{Name: News}, {Name: News}},
		"path twice":          {{Name: News, Pages: []Page{{Path: "/"}, {Path: "/"}}}},
		"relative path":       {{Name: News, Pages: []Page{{Path: "a"}}}},
		"robots.txt":          {{Name: News, Pages: []Page{{Path: "/robots.txt"}}}},
		"hub without slash":   {{Name: News, Pages: []Page{{Path: "/hub", Hub: true}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("it was accepted")
				}
			}()
			New(Options{Hosts: hosts})
		})
	}
}

// TestManyAtOnce is for the race detector.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := play(Options{MaxLog: 20})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				s.clock.move(time.Second)
				for _, target := range []string{News + "/markets", News + "/stories/4", Busy + "/", AdminHost + "/", AdminHost + "/log"} {
					s.get(target)
				}
				s.Truth(News, "/markets")
			}
		})
	}
	wg.Wait()
	if n := len(s.Log()); n < 20 || n > 26 {
		t.Errorf("%d requests are kept", n)
	}
}

// TestHangingUp: the log shows that a client did not wait for a slow page.
func TestHangingUp(t *testing.T) {
	t.Parallel()
	s := New(Options{Clock: stuckClock{}})
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "http://shop.localhost/stock", nil))
	if log := s.Log(); len(log) != 1 || log[0].Status != 0 || log[0].End.IsZero() {
		t.Errorf("%+v", log)
	}
}

// stuckClock never ends a wait.
type stuckClock struct{}

func (stuckClock) Now() time.Time                       { return epoch }
func (stuckClock) After(time.Duration) <-chan time.Time { return nil }
