package activities

import (
	"testing"
	"time"
)

func TestStoreAhead(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ apart, want time.Duration }{
		{0, 0}, {-3 * time.Second, 0}, {29 * time.Second, 0}, {time.Minute + time.Millisecond, time.Minute}, {-2 * time.Hour, -2 * time.Hour},
	} {
		if got := storeAhead(at.Add(c.apart), at); got != c.want {
			t.Errorf("%s apart: %s, want %s", c.apart, got, c.want)
		}
	}
	if got := storeAhead(time.Time{}, at) + storeAhead(at, time.Time{}); got != 0 {
		t.Errorf("unknown times are %s apart", got)
	}
}
