package visits

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"recrawl/internal/bench"
)

// Mark names the place of the tables in docs/benchmarks.md.
const Mark = "bench-visits"

// Tables writes the report with a way to write a table.
func (r *Report) Tables(write func(*bench.Table) string) string {
	var b strings.Builder
	for _, engine := range r.Options.Engines {
		speed, noise := r.speed(engine)
		if len(speed.Rows) > 0 {
			fmt.Fprintf(&b, "%s: %d pages on %d hosts, delay %s; bare loops of %d workflows; timers of %s, windows of %s.\n\n%s\n",
				title(engine), r.Options.Pages, r.Options.Hosts, r.Options.Delay, r.Options.Pages, r.Options.Timer, r.Options.Window, write(speed))
			fmt.Fprintf(&b, "%s\n\n", noise)
			if first := r.ratio(engine, First, BareFirst); first != bench.Unknown {
				fmt.Fprintf(&b, "First visits come to %s of bare first visits of the same round.\n\n", first)
			}
		}
		if counts := r.counts(engine); len(counts.Rows) > 0 {
			fmt.Fprintf(&b, "Counted a visit:\n\n%s\n", write(counts))
			fmt.Fprintf(&b, "%s\n", write(r.activities(engine)))
		}
	}
	for _, missing := range r.Missing {
		fmt.Fprintf(&b, "Not measured: %s.\n\n", missing)
	}
	return b.String()
}

func title(engine string) string {
	switch engine {
	case Postgres:
		return "A real server with Postgres"
	case PostgresThin:
		return "A real server with Postgres and a thin list of workflows"
	}
	return "The embedded server with SQLite"
}

// timed returns the timings of a case, by round.
func (r *Report) timed(engine, name string) map[int]Timing {
	found := map[int]Timing{}
	for _, t := range r.Timings {
		if t.Engine == engine && t.Case == name {
			found[t.Round] = t
		}
	}
	return found
}

// speed makes the table of timings, with ratios to the bare loop of the same round, and a
// sentence on how much equal rounds differ.
func (r *Report) speed(engine string) (*bench.Table, string) {
	table := &bench.Table{Head: []string{"case", "visits/s", "of the bare loop", "server ms", "database ms", "worker ms"}}
	for _, name := range []string{BareLoop, BareLocals, Unchanged, Changed, BareFirst, First} {
		rounds := r.timed(engine, name)
		if len(rounds) == 0 {
			continue
		}
		of := func(figure func(Timing) float64) bench.Spread {
			var all []float64
			for _, t := range rounds {
				all = append(all, figure(t))
			}
			return bench.SpreadOf(all...)
		}
		database := bench.Unknown
		if spread := of(func(t Timing) float64 { return t.Database }); spread.Max > 0 {
			database = bench.Figure(spread.Median)
		}
		table.Add(name, of(Timing.Rate).String(), r.ratio(engine, name, BareLoop), bench.Figure(of(func(t Timing) float64 { return t.Server }).Median), database,
			bench.Figure(of(func(t Timing) float64 { return t.Worker }).Median))
	}
	return table, r.noise(engine)
}

// ratio is the speed of a case beside another in the same rounds.
func (r *Report) ratio(engine, name, beside string) string {
	others := r.timed(engine, beside)
	var ratios []float64
	for round, t := range r.timed(engine, name) {
		if other, ok := others[round]; ok {
			ratios = append(ratios, t.Rate()/other.Rate())
		}
	}
	if len(ratios) == 0 {
		return bench.Unknown
	}
	return bench.SpreadOf(ratios...).String()
}

// noise says how much equal rounds differ, and whether the timers asked for enough.
func (r *Report) noise(engine string) string {
	worst := 0.0
	for _, name := range []string{BareLoop, BareLocals} {
		var rates []float64
		for _, t := range r.timed(engine, name) {
			rates = append(rates, t.Rate())
		}
		if len(rates) > 1 {
			worst = max(worst, bench.SpreadOf(rates...).Noise())
		}
	}
	text := "One round only: how far equal rounds differ is not known."
	if worst > 0 {
		text = fmt.Sprintf("Noise: equal rounds of a bare loop differ by a factor of up to %s. A ratio that is nearer to 1 than that says nothing.", bench.Figure(worst))
	}
	asked := float64(r.Options.Pages) / r.Options.Timer.Seconds()
	for _, name := range []string{BareLoop, BareLocals, Unchanged, Changed} {
		for _, t := range r.timed(engine, name) {
			if t.Rate() > 0.85*asked {
				return text + fmt.Sprintf(" The timers ask for %s visits/s only, which some case nearly reached: it was not at its limit. Use more pages or shorter timers.", bench.Figure(asked))
			}
		}
	}
	return text
}

func (r *Report) counted(engine string) []Count {
	var found []Count
	for _, c := range r.Counts {
		if c.Engine == engine {
			found = append(found, c)
		}
	}
	return found
}

// counts makes the table of counts per visit.
func (r *Report) counts(engine string) *bench.Table {
	head := []string{"case", "events", "workflow tasks", "timers", "local", "regular", "workflows started", "write tx", "read tx", "statements"}
	if onPostgres(engine) {
		head = append(head, "round trips of these", "log syncs of Postgres")
	} else {
		head = append(head, "fsyncs of the store", "of the archive", "of Temporal")
	}
	table := &bench.Table{Head: head}
	for _, c := range r.counted(engine) {
		of := func(figure func(Tally) int) string { return bench.Figure(c.Tally.each(figure)) }
		each := func(n int) string { return bench.Figure(float64(n) / float64(c.Tally.Visits)) }
		row := []string{
			c.Case, of(func(t Tally) int { return t.Events }), of(func(t Tally) int { return t.Tasks }), of(func(t Tally) int { return t.Timers }),
			of(func(t Tally) int { return sum(t.Locals) }), of(func(t Tally) int { return sum(t.Regular) }), of(func(t Tally) int { return sum(t.Started) }),
		}
		store := []uint64{c.Store.Writes, c.Store.Reads, c.Store.WriteStatements + c.Store.ReadStatements}
		if onPostgres(engine) {
			store = append(store, c.Store.Trips)
		}
		for _, n := range store {
			if c.Store == (storeCounts{}) {
				row = append(row, bench.Unknown)
			} else {
				row = append(row, each(int(n)))
			}
		}
		switch {
		case onPostgres(engine) && c.Syncs != nil:
			row = append(row, each(c.Syncs.Shared))
		case onPostgres(engine):
			row = append(row, bench.Unknown)
		case c.Syncs != nil:
			row = append(row, each(c.Syncs.Store), each(c.Syncs.Archive), each(c.Syncs.Temporal))
		default:
			row = append(row, bench.Unknown, bench.Unknown, bench.Unknown)
		}
		table.Add(row...)
	}
	return table
}

// activities makes the table of how often each of the product's activities ran per visit.
func (r *Report) activities(engine string) *bench.Table {
	names := map[string]bool{}
	for _, c := range r.counted(engine) {
		for _, ran := range []map[string]int{c.Tally.Visiting.Locals, c.Tally.Visiting.Regular, c.Tally.Others.Locals, c.Tally.Others.Regular} {
			for name := range ran {
				names[name] = name != bareVisit && name != bareStep
			}
		}
	}
	table := &bench.Table{Head: []string{"activities a visit"}}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if names[name] {
			table.Head = append(table.Head, name)
		}
	}
	for _, c := range r.counted(engine) {
		if slices.ContainsFunc(bareKinds, func(k bareKind) bool { return k.title == c.Case }) {
			continue
		}
		row := []string{c.Case}
		for _, name := range table.Head[1:] {
			row = append(row, bench.Figure(c.Tally.each(func(t Tally) int { return t.Locals[name] + t.Regular[name] })))
		}
		table.Add(row...)
	}
	return table
}

func sum(numbers map[string]int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}
