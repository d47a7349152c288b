package cli

import (
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/sink"
)

func TestSinks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args      string
		code      int
		call      string // of Temporal, "" for none
		says, err string
	}{
		{"sinks news", ExitOK, "", "paused", ""},
		{"sinks list news --output json", ExitOK, "", `"cursor":"c1.5f2a9c01.40"`, ""},
		{"sinks old", ExitNotFound, "", "", "there is no crawl"},
		{"sinks test news team", ExitOK, "test news/team {After: Changes:[]}", "test", ""},
		{"sinks pause news team", ExitOK, "pause news/team {After: Changes:[]}", "", ""},
		{"sinks resume news team --output json", ExitOK, "resume news/team {After: Changes:[]}", `"message"`, ""},
		{"sinks skip news team", ExitOK, "skip news/team {After: Changes:[]}", "", ""},
		{"sinks test news tema", ExitNotFound, "", "", `crawl news has no sink "tema": ` + "`starter sinks news` lists them"},
		{"sinks test old team", ExitNotFound, "", "", "there is no crawl"},
		{"sinks failed news team", ExitOK, "", "400 Bad Request", ""},
		{"sinks failed news tema", ExitNotFound, "", "", "no sink"},
		{"sinks replay news team 17 18", ExitOK, "replay news/team {After: Changes:[17 18]}", "", ""},
		{"sinks replay news team --failed", ExitOK, "replay news/team {After: Changes:[17]}", "", ""},
		{"sinks replay news team --after c1.5f2a9c01.4", ExitOK, "replay news/team {After:c1.5f2a9c01.4 Changes:[]}", "", ""},
		{"sinks replay news team --after 4", ExitUsage, "", "", "is not a cursor"},
		{"sinks replay news team", ExitUsage, "", "", "give changes, --failed or --after"},
		{"sinks replay news team 17 --failed", ExitUsage, "", "", "one of these only"},
		{"sinks replay news tema --failed", ExitNotFound, "", "", "no sink"},
		{"sinks replay news team seventeen", ExitUsage, "", "", "seventeen"},
	} {
		b := &fakeBackend{sinks: map[string]crawl.SinkSpec{"team": {Kind: crawl.SinkExec, To: "x"}}}
		r := starter(t, b, strings.Fields(tt.args)...)
		if r.code != tt.code || !strings.Contains(r.out, tt.says) || !strings.Contains(r.errOut, tt.err) || strings.Count(r.errOut, "\n") > 1 {
			t.Errorf("%s: %d, %q, %q", tt.args, r.code, r.out, r.errOut)
		}
		var want []string
		if tt.call != "" {
			want = []string{tt.call}
		}
		if !slices.Equal(b.calls, want) {
			t.Errorf("%s: asked %q, want %q", tt.args, b.calls, want)
		}
	}
	b := &fakeBackend{sinks: map[string]crawl.SinkSpec{"team": {Kind: crawl.SinkExec, To: "x"}}, allDelivered: true}
	if r := starter(t, b, "sinks", "replay", "news", "team", "--failed"); r.code != ExitOK || !strings.Contains(r.out, "nothing is undelivered") || len(b.calls) > 0 {
		t.Errorf("nothing to replay: %+v, %q", r, b.calls)
	}
}

// A replay of all sends all, also those behind a hundred that are still refused, and whatever one
// command has no time for. It ends when the receiver takes nothing.
func TestReplayFailedSendsAll(t *testing.T) {
	t.Parallel()
	var ids []int64
	for id := range int64(250) {
		ids = append(ids, id+1)
	}
	for _, c := range []struct {
		what     string
		inTime   int   // of one command
		haltedAt int64 // the receiver takes nothing from there on
		want     string
		calls    int
	}{
		{"a hundred are refused", 100, 0, "150 of 250 undelivered changes are delivered, 100 refused (change 1: 400)", 3},
		{"slowly", 40, 0, "150 of 250 undelivered changes are delivered, 100 refused (change 1: 400)", 7},
		{"silence", 100, 120, "19 of 200 undelivered changes are delivered, 100 refused, 81 not sent, since the receiver takes nothing now (change 1: 400)", 2},
	} {
		b := &fakeBackend{sinks: map[string]crawl.SinkSpec{"team": {Kind: crawl.SinkExec, To: "x"}}, undelivered: ids}
		b.replayed = func(ids []int64) (r sink.Replayed) {
			for i, id := range ids {
				if r.Halted || i >= c.inTime {
					r.Left += len(ids) - i
					break
				}
				switch {
				case id <= 100:
					r = r.With(id, &sink.Refused{Reason: "400"})
				case id == c.haltedAt:
					r = r.With(id, errDown)
				default:
					r = r.With(id, nil)
				}
			}
			return r
		}
		got := starter(t, b, "sinks", "replay", "news", "team", "--failed")
		if got.code == ExitOK || !strings.Contains(got.errOut, c.want) || len(b.calls) != c.calls {
			t.Errorf("%s: %d after %d commands, %q, want %q", c.what, got.code, len(b.calls), got.errOut, c.want)
		}
	}
}
