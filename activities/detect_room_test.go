package activities

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/contract"
)

// A body that waits behind others keeps all of its time. One for which there is no room for long says
// so.
func TestEnterComparing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := New(Stores{}, nil, nil, nil, Settings{}, slog.New(slog.DiscardHandler))
		_, leave, err := a.enterComparing(t.Context(), 2*comparedAtOnce)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(contract.ComparePatience - time.Second) // of the bubble's clock
			leave()
		}()
		working, leave, err := a.enterComparing(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if until, _ := working.Deadline(); time.Until(until) != contract.CompareLimit {
			t.Errorf("%s are left", time.Until(until))
		}
		if _, _, err = a.enterComparing(t.Context(), comparedAtOnce); err == nil || !strings.Contains(err.Error(), "no room for it within 8m0s") {
			t.Errorf("no room: %v", err)
		}
		leave()
		if _, _, err = a.enterComparing(t.Context(), comparedAtOnce); err != nil {
			t.Errorf("after the work: %v", err)
		}
	})
}
