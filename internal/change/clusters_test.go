package change

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestClusters(t *testing.T) {
	t.Parallel()
	var c Clusters
	if got := c.Oldest(7); got != 7 {
		t.Errorf("the oldest of a page alone is %d", got)
	}
	c.Join(5, 4)
	c.Join(5, 9)
	c.Join(20, 30)
	c.Join(9, 2)
	for page, want := range map[int64]int64{2: 2, 4: 2, 5: 2, 9: 2, 20: 20, 30: 20, 7: 7} {
		if got := c.Oldest(page); got != want {
			t.Errorf("the oldest of page %d is %d, want %d", page, got, want)
		}
	}
}

// Sets are the pages that pairs connect, and the lowest id stands for each,
// whatever the order of the pairs.
func TestClustersProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const pages = 12
		pairs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int64 {
			return [2]int64{rapid.Int64Range(1, pages).Draw(t, "a"), rapid.Int64Range(1, pages).Draw(t, "b")}
		}), 0, 15).Draw(t, "pairs")
		var c Clusters
		for _, p := range pairs {
			c.Join(p[0], p[1])
		}
		lowest := map[int64]int64{}
		for page := int64(1); page <= pages; page++ {
			lowest[page] = page
		}
		for range pages { // spread the lowest ids along the pairs until nothing moves
			for _, p := range pairs {
				low := min(lowest[p[0]], lowest[p[1]])
				lowest[p[0]], lowest[p[1]] = low, low
			}
		}
		for page, low := range lowest {
			if got := c.Oldest(page); got != low {
				t.Fatalf("the oldest of page %d is %d, want %d", page, got, low)
			}
		}
	})
}

func TestMirrors(t *testing.T) {
	t.Parallel()
	var m Mirrors
	for range 20 { // hosts 1 and 2 are mirrors; 3 has a third of them
		m.Add([]int64{2, 1, 1})
	}
	for range 12 {
		m.Add([]int64{1, 3})
	}
	for range 30 {
		m.Add([]int64{3})
	}
	for range 9 { // too few for a verdict
		m.Add([]int64{5, 4})
	}
	for range 50 { // 6 has a part of 7
		m.Add([]int64{7})
	}
	for range 11 {
		m.Add([]int64{6, 7})
	}
	for range 15 { // on too many hosts for a verdict
		m.Add([]int64{101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117})
	}
	want := []Mirror{{1, 2, 20, 32, 20}, {6, 7, 11, 11, 61}}
	if got := m.Pairs(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := new(Mirrors).Pairs(); len(got) != 0 {
		t.Errorf("nothing has mirrors %v", got)
	}
}
