package sim

// heap keeps items, small numbers from 0 on, by keys; the one with the least
// key is its head, and of equal keys the least item. Keys of items that are in
// it can be changed. Heaps of different items may share keys and places.
type heap struct {
	key   []float64 // by item
	place []int32   // by item: index in items; −1 if it is in no heap
	items []int32
}

// newHeap makes an empty heap for items 0 to n−1.
func newHeap(n int) heap {
	h := heap{key: make([]float64, n), place: make([]int32, n)}
	for i := range h.place {
		h.place[i] = -1
	}
	return h
}

// head returns the first item and its key.
func (h *heap) head() (item int, key float64, ok bool) {
	if len(h.items) == 0 {
		return 0, 0, false
	}
	return int(h.items[0]), h.key[h.items[0]], true
}

func (h *heap) has(item int) bool { return h.place[item] >= 0 }

// set adds an item or gives it another key.
func (h *heap) set(item int, key float64) {
	h.key[item] = key
	if !h.has(item) {
		h.place[item] = int32(len(h.items))
		h.items = append(h.items, int32(item))
	}
	h.settle(int(h.place[item]))
}

// remove takes an item out, if it is in.
func (h *heap) remove(item int) {
	i := int(h.place[item])
	if i < 0 {
		return
	}
	last := len(h.items) - 1
	h.swap(i, last)
	h.items = h.items[:last]
	h.place[item] = -1
	if i < last {
		h.settle(i)
	}
}

// settle moves the item at i to where it belongs.
func (h *heap) settle(i int) {
	for i > 0 && h.before(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
			if h.before(child, first) {
				first = child
			}
		}
		if first == i {
			return
		}
		h.swap(i, first)
		i = first
	}
}

func (h *heap) before(i, j int) bool {
	a, b := h.items[i], h.items[j]
	return h.key[a] < h.key[b] || h.key[a] == h.key[b] && a < b
}

func (h *heap) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.place[h.items[i]], h.place[h.items[j]] = int32(i), int32(j)
}
