package report

import (
	"slices"
	"testing"
)

// A part of a filtered list has the wanted rows in their order, and one look is bounded.
func TestSift(t *testing.T) {
	t.Parallel()
	rows, reads := 10_000, 0
	read := func(after *int, limit int) ([]int, error) {
		reads++
		from := 0
		if after != nil {
			from = *after + 1
		}
		var some []int
		for n := from; n < min(rows, from+limit); n++ {
			some = append(some, n)
		}
		return some, nil
	}
	for _, c := range []struct {
		limit, batch, every int
		found               []int
		last                int
		reads               int
	}{
		{3, 3, 1, []int{0, 1, 2}, 2, 1},
		{3, 500, 100, []int{0, 100, 200}, 200, 1},
		{3, 500, 3000, []int{0, 3000}, 3999, 8},
		{3, 500, 20_000, []int{0}, 3999, 8},
	} {
		reads = 0
		found, last, err := sift(c.limit, c.batch, func(n int) bool { return n%c.every == 0 }, read)
		if err != nil || !slices.Equal(found, c.found) || last == nil || *last != c.last || reads != c.reads {
			t.Errorf("%+v: %v, %v after %d reads, %v", c, found, last, reads, err)
		}
	}
	rows = 700
	if found, last, err := sift(5, 500, func(n int) bool { return n == 600 }, read); err != nil || !slices.Equal(found, []int{600}) || last != nil {
		t.Errorf("at the end of the list: %v, %v, %v", found, last, err)
	}
}
