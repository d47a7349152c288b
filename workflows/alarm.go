package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// alarm is one durable timer, which is kept while its deadline stays the same: setting it
// to the same deadline again adds no event to the history.
type alarm struct {
	at     time.Time
	future workflow.Future
	cancel workflow.CancelFunc
}

// set makes the alarm ring at the deadline.
func (a *alarm) set(ctx workflow.Context, at time.Time, summary string) {
	if a.future != nil && a.at.Equal(at) && !a.future.IsReady() {
		return
	}
	a.unset()
	timerCtx, cancel := workflow.WithCancel(ctx)
	options := workflow.TimerOptions{Summary: clip(summary, maxTimerSummary)}
	a.at, a.cancel = at, cancel
	a.future = workflow.NewTimerWithOptions(timerCtx, at.Sub(workflow.Now(ctx)), options)
}

// unset cancels the alarm.
func (a *alarm) unset() {
	if a.future != nil {
		a.cancel()
		a.future = nil
	}
}

func (a *alarm) rang() bool { return a.future != nil && a.future.IsReady() }

// now is the workflow's time, but never before the deadline of an alarm that rang. If the
// server's clock were a millisecond behind, the workflow would set the same alarm again.
func (a *alarm) now(ctx workflow.Context) time.Time {
	now := workflow.Now(ctx)
	if a.rang() && a.at.After(now) {
		return a.at
	}
	return now
}
