//go:build unix

package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
)

// revealing is the text of TestEncryption's site, which nobody may find in Temporal.
var revealing = []string{"Opensesame", "127.0.0.1", "/hidden", "/broken"}

// hiddenSite has a page that changes all the time, one that answers with an error and one
// that breaks off.
func hiddenSite() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<title>Opensesame</title><p>Opensesame <a href="/hidden">x</a> <a href="/broken">y</a>`)
		case "/hidden":
			fmt.Fprintf(w, `<title>Opensesame</title><p>Opensesame as of <b>%d</b>`, time.Now().UnixNano())
		case "/broken":
			panic(http.ErrAbortHandler)
		default:
			http.NotFound(w, r)
		}
	})
}

// TestEncryption crawls with encryption on. Everything works, no text of the site is in a
// history, a command without the key says so in a line, and nothing is lost when the key is
// replaced.
func TestEncryption(t *testing.T) {
	sideBySide(t, 45)
	s := serve(t, hiddenSite())
	const setting = "RECRAWL_ENCRYPTION_KEYS="
	one, two := keyFile(t, 1), keyFile(t, 2)
	first, rotated := setting+"one=file:"+one, setting+"two=file:"+two+",one=file:"+one
	d := startDevEnv(t, filepath.Join(t.TempDir(), "data"), []string{first})
	asks := func(key string, args ...string) string {
		t.Helper()
		out, code, stderr := d.starterEnv(append(cleanEnv(t), key), args...)
		if code != 0 {
			t.Fatalf("starter %s: %d: %s%s", args, code, out, stderr)
		}
		return out
	}
	visited := func(least int) {
		t.Helper()
		d.await(fmt.Sprintf("every page is visited %d times", least), d.crawled("t", 3, least))
	}
	asks(first, "crawl", "t", s.url+"/", "--delay", "10ms", "--policy", "fixed", "--default-interval", "1s", "--min-interval", "1s", "--max-interval", "1s", "--maintain-every", "2s")
	visited(3)
	asks(first, "set-interval", s.url+"/hidden", "2s")
	asks(first, "visit", s.url+"/hidden")
	// If the workflow has not answered in time, explain says so and succeeds; ask again then.
	explains := func(env ...string) (said string) {
		t.Helper()
		d.await("the workflow has time for an answer", func() bool {
			out, code, stderr := d.starterEnv(append(cleanEnv(t), env...), "explain", s.url+"/hidden")
			if code != 0 {
				t.Fatalf("starter explain: %d: %s%s", code, out, stderr)
			}
			said = out + stderr
			return !tooBusy(said)
		})
		return said
	}
	if said := explains(first); !strings.Contains(said, "2s") {
		t.Errorf("explain does not know the interval: %s", said)
	}
	asks(first, "pause", "t")
	asks(first, "resume", "t")
	checkHidden(t, d, "one")

	if said := explains(); !strings.Contains(said, `encrypted with the key "one"`) {
		t.Errorf("explain without the key: %s", said)
	}

	w := startProcess(t, append(cleanEnv(t), "RECRAWL_STORE=sqlite:"+filepath.Join(t.TempDir(), "other.db"), "RECRAWL_ARCHIVE="+t.TempDir(), "TEMPORAL_ADDRESS="+d.state().Address), programs.worker)
	d.await("a worker without the key takes up nothing", func() bool {
		log := w.out.String()
		return strings.Contains(log, "takes up nothing") && strings.Contains(log, "encrypted with the key") && !strings.Contains(log, "worker ready")
	})
	w.kill()

	var before []string
	d.await("the crawl and its pages are listed", func() bool { before = open(t, d); return len(before) == 4 })
	d.stop()
	out, code, stderr := runEnv(t, append(cleanEnv(t), "RECRAWL_TEMPORAL_CLI="+programs.temporal), programs.starter, "dev", "--data", d.data)
	if code != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, `encrypted with the key "one", which is not in RECRAWL_ENCRYPTION_KEYS`) {
		t.Errorf("dev without the key: %d: %s%s", code, out, stderr)
	}
	d.env = []string{rotated}
	d.start()
	visited(6)
	d.await("the same workflows run as before", func() bool { return slices.Equal(before, open(t, d)) })
	asks(rotated, "visit", s.url+"/hidden")
	checkHidden(t, d, "two")
	d.stop()
}

// keyFile is a file with a key.
func keyFile(t *testing.T, b byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(slices.Repeat([]byte{b}, 32))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// executions returns the runs in the server's list.
func executions(t *testing.T, c client.Client, query string) []*commonpb.WorkflowExecution {
	t.Helper()
	var all []*commonpb.WorkflowExecution
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: client.DefaultNamespace, Query: query}
	for {
		list, err := c.ListWorkflow(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range list.GetExecutions() {
			all = append(all, info.GetExecution())
		}
		if request.NextPageToken = list.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return all
		}
	}
}

// open returns the ids of the crawl and of the running pages. The server's list may lack one that
// continues as new at this moment.
func open(t *testing.T, d *dev) []string {
	t.Helper()
	var ids []string
	for _, e := range executions(t, plainClient(t, d), "ExecutionStatus = 'Running' AND WorkflowType IN ('Crawl', 'Page')") {
		ids = append(ids, e.GetWorkflowId())
	}
	slices.Sort(ids)
	return slices.Compact(ids) // of two runs the list may not know yet that one has ended
}

// checkHidden reads every history of the server as it is stored. Every payload in them is
// encrypted, some with this key, and nothing except ids and search attributes has the
// site's text.
func checkHidden(t *testing.T, d *dev, key string) {
	t.Helper()
	c := plainClient(t, d)
	runs := executions(t, c, "")
	used, payloads := false, 0
	for _, run := range runs {
		events := c.GetWorkflowHistory(t.Context(), run.GetWorkflowId(), run.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			err = proxy.VisitPayloads(t.Context(), event, proxy.VisitPayloadsOptions{
				SkipSearchAttributes: true,
				Visitor: func(_ *proxy.VisitPayloadsContext, found []*commonpb.Payload) ([]*commonpb.Payload, error) {
					for _, p := range found {
						payloads++
						used = used || string(p.GetMetadata()["encryption-key-id"]) == key
						if string(p.GetMetadata()["encoding"]) != "binary/encrypted" {
							t.Errorf("%s has a payload that is not encrypted: %s", run.GetWorkflowId(), p)
						}
					}
					return found, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			checkEvent(t, event, runs)
		}
	}
	if payloads < 50 || !used {
		t.Errorf("%d payloads in %d runs, with the key %s: %v", payloads, len(runs), key, used)
	}
}

// checkEvent checks that an event says nothing beyond ids and search attributes.
func checkEvent(t *testing.T, event *historypb.HistoryEvent, runs []*commonpb.WorkflowExecution) {
	t.Helper()
	event, _ = proto.Clone(event).(*historypb.HistoryEvent)
	if a := event.GetWorkflowExecutionStartedEventAttributes(); a != nil {
		a.SearchAttributes = nil
	}
	if a := event.GetWorkflowExecutionContinuedAsNewEventAttributes(); a != nil {
		a.SearchAttributes = nil
	}
	if a := event.GetUpsertWorkflowSearchAttributesEventAttributes(); a != nil {
		a.SearchAttributes = nil
	}
	if a := event.GetStartChildWorkflowExecutionInitiatedEventAttributes(); a != nil {
		a.SearchAttributes = nil
	}
	data, err := proto.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, run := range runs {
		text = strings.ReplaceAll(text, run.GetWorkflowId(), "")
	}
	for _, word := range revealing {
		if strings.Contains(text, word) {
			t.Errorf("an event says %q: %s", word, event)
		}
	}
}
