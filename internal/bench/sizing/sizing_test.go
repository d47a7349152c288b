package sizing

import (
	"math"
	"os"
	"strings"
	"testing"
)

const (
	page  = "../../../docs/sizing.md"
	begin = "<!-- sizing: begin -->\n"
	end   = "<!-- sizing: end -->"
)

// The tables of docs/sizing.md follow from its figures. After a change of the figures,
// `make docs` writes them anew.
func TestSizingPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begun := strings.Cut(string(text), begin)
	have, tail, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("docs/sizing.md lacks %q or %q", begin, end)
	}
	f, err := ReadFigures(string(text))
	if err != nil {
		t.Fatalf("docs/sizing.md: %v", err)
	}
	want := f.Tables()
	if have == want {
		return
	}
	if os.Getenv("RECRAWL_UPDATE") == "" {
		t.Fatalf("the tables of docs/sizing.md are not those of its figures: run `make docs`. They would be\n%s", want)
	}
	if err := os.WriteFile(page, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// round returns figures that make mental arithmetic easy.
func round() Figures {
	f := Figures{}
	for _, name := range used {
		f[name] = 1
	}
	f["unchanged-rate"], f["changed-rate"], f["first-rate"] = 100, 50, 50
	f["unchanged-server"], f["changed-server"], f["unchanged-worker"], f["changed-worker"] = 10, 20, 4, 8
	f["actions-unchanged"], f["actions-changed"] = 4, 8
	f["changed-share"], f["load"], f["database-share"] = 0.25, 0.5, 2
	f["delay"], f["request"], f["concurrency"] = 9, 1, 64
	return f
}

func TestNeed(t *testing.T) {
	t.Parallel()
	got := round().NeedOf(864_000, day)
	want := Need{
		VisitsPerSecond: 10, OfMachine: 0.125, Server: 0.25, Database: 0.5, Worker: 0.1, Workers: 1, Hosts: 100,
		Actions: 30*864_000*5 + 864_000, WAL: 864_000 * 1000, Written: 864_000 * 1000,
	}
	for name, pair := range map[string][2]float64{
		"visits/s": {got.VisitsPerSecond, want.VisitsPerSecond}, "of a machine": {got.OfMachine, want.OfMachine}, "server": {got.Server, want.Server},
		"database": {got.Database, want.Database}, "worker": {got.Worker, want.Worker}, "workers": {got.Workers, want.Workers},
		"hosts": {got.Hosts, want.Hosts}, "actions": {got.Actions, want.Actions}, "log": {got.WAL, want.WAL}, "written": {got.Written, want.Written},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-6*pair[1] {
			t.Errorf("%s: %g, want %g", name, pair[0], pair[1])
		}
	}
	// A slow web needs processes for the requests in flight, not for the cores.
	slow := round()
	slow["request"] = 64
	if n := slow.NeedOf(864_000, day); n.Workers != 20 {
		t.Errorf("%g workers for 640 requests in flight, half of which they are planned for", n.Workers)
	}
	if d := round().DiskOf(7000); d.Temporal != 7e6 || math.Abs(d.Versions-365_000*0.25*1000) > 1 || math.Abs(d.Visits-365_000*1000) > 1 {
		t.Errorf("%+v", d)
	}
	first := round()
	first["first-server"], first["first-worker"], first["actions-admission"] = 30, 10, 2
	if got, want := first.FirstPassOf(5000), (FirstPass{Length: 100, Written: 5e6, Cores: 500, Actions: 50_000}); got != want {
		t.Errorf("a first pass of 5000 pages takes %+v, want %+v", got, want)
	}
}

func TestReadFigures(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, name := range used {
		b.WriteString("| `" + name + "` | 2.5 | ms | somewhere |\n")
	}
	whole := b.String()
	f, err := ReadFigures("text\n" + whole)
	if err != nil || f["load"] != 2.5 {
		t.Fatalf("%v, %v", f, err)
	}
	for name, text := range map[string]string{
		"missing": strings.Replace(whole, "`load`", "`lode`", 1),
		"twice":   whole + "| `load` | 1 | |\n",
		"unused":  whole + "| `other` | 1 | |\n",
		"zero":    strings.Replace(whole, "2.5", "0", 1),
		"dots":    strings.Replace(whole, "2.5", "2.5.1", 1),
	} {
		if _, err := ReadFigures(text); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{two(0.0385), "0.039"},
		{two(1157.4), "1200"},
		{two(11.57), "12"},
		{two(0), "0"},
		{amount(48_000), "48000"},
		{amount(5.3e6), "5.3 million"},
		{amount(1.5e10), "15 billion"},
		{size(4.9e9), "4.9 GB"},
		{size(2.5e12), "2.5 TB"},
		{size(900), "0.9 kB"},
		{length(333), "5.6 min"},
		{length(33_333), "9.3 h"},
		{length(3.3e6), "38 days"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
