package sqlstore

import "sync"

// Watchers is the registry behind Engine.Watch: which waiters in this process wait
// for which page. The zero value is ready for use.
type Watchers struct {
	mu    sync.Mutex
	pages map[int64]map[chan struct{}]struct{}
}

// Watch returns a channel that receives after Notify(page), and a function that
// ends the watch. Notifications that nobody has received yet count as one.
func (w *Watchers) Watch(page int64) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pages == nil {
		w.pages = map[int64]map[chan struct{}]struct{}{}
	}
	if w.pages[page] == nil {
		w.pages[page] = map[chan struct{}]struct{}{}
	}
	w.pages[page][ch] = struct{}{}
	return ch, func() { w.forget(page, ch) }
}

func (w *Watchers) forget(page int64, ch chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pages[page], ch)
	if len(w.pages[page]) == 0 {
		delete(w.pages, page)
	}
}

// Notify wakes the watchers of the pages. It never blocks.
func (w *Watchers) Notify(pages ...int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, page := range pages {
		for ch := range w.pages[page] {
			wake(ch)
		}
	}
}

// NotifyAll wakes every watcher: after notifications may have been missed,
// everybody must look again.
func (w *Watchers) NotifyAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, channels := range w.pages {
		for ch := range channels {
			wake(ch)
		}
	}
}

func wake(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default: // one is waiting to be received already
	}
}
