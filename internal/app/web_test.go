package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/report"
	"recrawl/internal/store/storetest/crawltest"
)

// A job's answer is the button's, if it comes soon; otherwise the job goes on when the
// browser leaves.
func TestJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJobs(t.Context())
		quick, err := j.do(t.Context(), job{"news", "the repair of news"}, func(context.Context, func(string)) (string, error) { return "looked at 3 pages", nil })
		if quick != "looked at 3 pages" || err != nil {
			t.Errorf("%q, %v", quick, err)
		}
		if _, err := j.do(t.Context(), job{"news", "the repair of news"}, func(context.Context, func(string)) (string, error) { return "", errors.New("Temporal is away") }); err == nil {
			t.Error("a job that failed at once says nothing")
		}
		ended := false
		browser, leave := context.WithCancel(t.Context())
		begun, err := j.do(browser, job{"news", "the repair of news"}, func(ctx context.Context, say func(string)) (string, error) {
			say("500 of 2000 pages looked at")
			<-ctx.Done()
			ended = true
			return "", ctx.Err()
		})
		if begun != "the repair of news has begun and goes on" || err != nil {
			t.Errorf("%q, %v", begun, err)
		}
		leave()
		synctest.Wait()
		if again, _ := j.do(t.Context(), job{"news", "the repair of news"}, nil); again != "the repair of news is under way: 500 of 2000 pages looked at" || ended {
			t.Errorf("%q, ended %v", again, ended)
		}
		if doing := j.of("news"); len(doing) != 1 || doing[0] != "the repair of news is under way: 500 of 2000 pages looked at" || len(j.of("other")) > 0 {
			t.Errorf("%q, and of another crawl %q", doing, j.of("other"))
		}
		j.wait()
		if !ended {
			t.Error("the server has ended, and the job has not")
		}
		if doing := j.of("news"); len(doing) > 0 {
			t.Errorf("after the end: %q", doing)
		}
	})
}

// Of a job that nobody waits for any more it is said that it has failed: until it is begun anew, and
// for an hour at most.
func TestFailedJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJobs(t.Context())
		defer j.wait()
		repair := job{"news", "the repair of news"}
		late := func(err error) func(context.Context, func(string)) (string, error) {
			return func(context.Context, func(string)) (string, error) {
				time.Sleep(2 * jobPatience)
				return "looked at 3 pages", err
			}
		}
		told := func(err error, after time.Duration) string {
			t.Helper()
			if begun, err := j.do(t.Context(), repair, late(err)); err != nil || begun != "the repair of news has begun and goes on" {
				t.Errorf("%q, %v", begun, err)
			}
			time.Sleep(jobPatience + after)
			synctest.Wait()
			return strings.Join(j.of("news"), "; ") + strings.Join(j.of("other"), "; ")
		}
		away := errors.New("Temporal is away")
		for _, c := range []struct {
			err   error
			after time.Duration
			want  string
		}{
			{away, time.Minute, "the repair of news failed: Temporal is away"}, {nil, time.Minute, ""}, {away, failureTold, ""},
		} {
			if got := told(c.err, c.after); got != c.want {
				t.Errorf("%v, %s later: %q, want %q", c.err, c.after, got, c.want)
			}
		}
	})
}

// The retry of one host does not stand for that of another, or of all.
func TestRetriesOfTwoHosts(t *testing.T) {
	t.Parallel()
	c := webCommands{jobs: newJobs(t.Context())}
	defer c.jobs.wait()
	c.jobs.begin(retryOf("news", "a.test"))
	if said, err := c.Retry(t.Context(), "news", "a.test"); err != nil || said != "the retry of news at a.test is under way" {
		t.Errorf("the same again: %q, %v", said, err)
	}
	for _, host := range []string{"b.test", ""} {
		if said, err := c.Retry(t.Context(), "news", host); !errors.Is(err, config.ErrNoStore) {
			t.Errorf("%q was not carried out: %q, %v", host, said, err)
		}
	}
}

// Pages are shown even if Temporal is away: not each of them waits for it.
func TestKeptTemporal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dials, answers := 0, false
		k := newKeptTemporal(func(context.Context) (client.Client, error) {
			if dials++; !answers {
				return nil, errors.New("connection refused")
			}
			return client.NewLazyClient(client.Options{})
		}, cli.TemporalOptions{})
		for range 3 {
			if _, err := k.flows(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
				t.Errorf("%v", err)
			}
		}
		if dials != 1 {
			t.Errorf("asked %d times at once", dials)
		}
		answers = true
		time.Sleep(dialAgainAfter)
		for range 3 {
			c, err := k.flows(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		}
		if dials != 2 {
			t.Errorf("connected %d times", dials-1)
		}
		k.close()
	})
}

// A page that did not wait for Temporal's answer says nothing about Temporal to a button that
// does, and something to the next page.
func TestKeptTemporalSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		k := newKeptTemporal(func(ctx context.Context) (client.Client, error) {
			dials++
			select {
			case <-time.After(time.Second):
				return client.NewLazyClient(client.Options{})
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}, cli.TemporalOptions{})
		for range 2 {
			page, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
			if _, err := k.flows(page); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a page: %v", err)
			}
			leave()
		}
		if dials != 1 {
			t.Errorf("pages asked %d times", dials)
		}
		if _, err := k.flows(t.Context()); err != nil || dials != 2 {
			t.Errorf("a button: %v, after %d tries", err, dials)
		}
		k.close()
	})
}

// A page does not wait behind a button that asks a Temporal which does not answer.
func TestKeptTemporalTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKeptTemporal(func(context.Context) (client.Client, error) {
			time.Sleep(5 * time.Second)
			return nil, errors.New("no answer")
		}, cli.TemporalOptions{})
		button := make(chan error, 1)
		go func() {
			_, err := k.flows(t.Context())
			button <- err
		}()
		synctest.Wait()
		const patience = 300 * time.Millisecond
		page, leave := context.WithTimeout(t.Context(), patience)
		defer leave()
		begun := time.Now()
		if _, err := k.flows(page); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != patience {
			t.Errorf("a page: %v, after %v", err, time.Since(begun))
		}
		if err := <-button; err == nil || err.Error() != "ask Temporal: no answer" {
			t.Errorf("the button: %v", err)
		}
		k.close()
	})
}

// TestWeb serves a store without Temporal: known data is shown, buttons report what is
// wrong, and streams end with the server.
func TestWeb(t *testing.T) {
	t.Parallel()
	at := cli.Target{Store: "sqlite:" + crawltest.New(t).Path, Temporal: cli.TemporalOptions{Address: "127.0.0.1:1", Namespace: "default"}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, said := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Backend{}.Web(ctx, cli.WebOptions{
			At: at, Listen: "127.0.0.1:0", UI: "http://localhost:8233/", Web: config.Web{Token: "0123456789abcdef"}, Out: said, Log: slog.New(slog.DiscardHandler),
			Reporter: func(o cli.Opened) report.Reporter {
				return report.Reporter{Store: o.Store, Visits: o.Visits, Deliveries: o.Sinks, Relations: o.Relations, Requests: o.Requests, Search: o.Search}
			},
			Judge: func(ctx context.Context, o cli.Opened) report.ScopeJudge {
				return cli.NewScopeJudge(ctx, config.Config{}, o)
			},
		})
	}()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	address := regexp.MustCompile(`http://localhost:\d+`).FindString(string(line[:n]))
	ask := func(method, path string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer 0123456789abcdef")
		r.Header.Set("Accept", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	body, _ := io.ReadAll(ask(http.MethodGet, "/crawls/news.json").Body)
	if !strings.HasPrefix(string(body), `{"crawl":"news","state":"running"`) {
		t.Errorf("%s", body)
	}
	// The store takes it; the workflow, which cannot be reached, learns of it later.
	body, _ = io.ReadAll(ask(http.MethodPost, "/crawls/news/do/pause").Body)
	if !strings.Contains(string(body), "its workflow hears of it later") {
		t.Errorf("%s", body)
	}
	if answer := ask(http.MethodPost, "/crawls/news/retry"); answer.StatusCode != http.StatusConflict {
		t.Errorf("%d", answer.StatusCode)
	}
	// A health check, which has no token, learns which part is away, and not where it is.
	if err := (Backend{}).WebReady(t.Context(), strings.TrimPrefix(address, "http://")); err == nil || err.Error() != "not ready; store: ok; temporal: does not answer" {
		t.Errorf("%v", err)
	}
	stream := ask(http.MethodGet, "/crawls/news/live")
	stop()
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream is cut off: %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestUIOf(t *testing.T) {
	t.Parallel()
	for want, in := range map[string][2]string{
		"":                                      {"", "default"},
		"http://localhost:8233/namespaces/news": {"http://localhost:8233/", "news"},
		"http://localhost:8233/namespaces/default": {"http://localhost:8233", ""},
	} {
		if got := uiOf(in[0], in[1]); got != want {
			t.Errorf("%v: %q", in, got)
		}
	}
}
