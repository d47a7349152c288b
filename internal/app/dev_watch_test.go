package app

import (
	"slices"
	"testing"
)

// A trouble is said once, for as long as it holds, and again if it comes back.
func TestNotices(t *testing.T) {
	t.Parallel()
	told := notices{}
	for i, c := range []struct {
		all  map[string]string
		want []string
	}{
		{map[string]string{}, nil},
		{map[string]string{"b": "b is dead", "a": "a is blocked"}, []string{"a is blocked", "b is dead"}},
		{map[string]string{"b": "b is dead: another time", "a": "a is blocked"}, nil},
		{nil, nil}, // the store did not answer
		{map[string]string{"a": "a is blocked"}, nil},
		{map[string]string{"b": "b is dead", "a": "a is blocked"}, []string{"b is dead"}},
	} {
		if got := told.news(c.all); !slices.Equal(got, c.want) {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}
