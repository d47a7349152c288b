package workflows

import (
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
)

// A page is due by the store's clock. If the server's differs, the page is neither visited again
// and again, nor late.
func TestClocksOfStoreAndServer(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{-3 * time.Hour, 0, 3 * time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			l := newLive(t, update(65*time.Minute, contract.Snooze, contract.DurationArg("30m")), stopAt(2*time.Hour))
			l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) {
				l.world.SetClock(func() time.Time { return env.Now().Add(ahead) })
			})
			l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
				out := contracttest.Unchanged(try.Now)
				out.StoreAhead = ahead
				return out, nil
			}
			l.world.OnPlan = func(_ contract.PlanIn, out *contract.PlanOut) { out.NextAt = out.At.Add(10 * time.Minute) }
			in := pageIn()
			in.Tuning.VisitsPerRun = 3 // later runs know the difference
			l.stopped(l.page(in))
			var got []time.Duration
			for _, v := range l.world.Visits() {
				got = append(got, v.At.Sub(start.Add(ahead)).Round(time.Minute))
			}
			want := []time.Duration{0, 10, 20, 30, 40, 50, 60, 95, 105, 115}
			if len(got) != len(want) {
				t.Fatalf("visits after %v, want %v minutes", got, want)
			}
			for i := range want {
				if got[i] != want[i]*time.Minute {
					t.Fatalf("visits after %v, want %v minutes", got, want)
				}
			}
		})
	}
}
