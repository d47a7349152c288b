package sim

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A heap is a sorted list that forgets and changes its mind.
func TestHeap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const n = 20
		h, want := newHeap(n), map[int]float64{}
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			item := rapid.IntRange(0, n-1).Draw(t, "item")
			if rapid.Bool().Draw(t, "remove") {
				h.remove(item)
				delete(want, item)
			} else {
				key := float64(rapid.IntRange(0, 5).Draw(t, "key"))
				h.set(item, key)
				want[item] = key
			}
			if h.has(item) != slices.Contains(keysOf(want), item) {
				t.Fatalf("has(%d) = %v", item, h.has(item))
			}
		}
		order := keysOf(want)
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(want[a], want[b]), cmp.Compare(a, b)) })
		for _, item := range order {
			got, key, ok := h.head()
			if !ok || got != item || key != want[item] {
				t.Fatalf("head = %d at %v, %v; want %d at %v", got, key, ok, item, want[item])
			}
			h.remove(got)
		}
		if _, _, ok := h.head(); ok {
			t.Fatal("the heap is not empty in the end")
		}
	})
}

func keysOf(m map[int]float64) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}
