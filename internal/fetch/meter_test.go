package fetch

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// slowReader gives pieces of some bytes, each after a wait.
type slowReader struct {
	wait         time.Duration
	size, pieces int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.pieces--; r.pieces < 0 {
		return 0, io.EOF
	}
	time.Sleep(r.wait)
	return min(r.size, len(p)), nil
}

// TestPace: windows of ten seconds, each of which wants a thousand bytes.
func TestPace(t *testing.T) {
	cases := []struct {
		name  string
		body  slowReader
		ours  time.Duration // what we do after each piece
		slow  bool
		after time.Duration // when it is slow
	}{
		{"just fast enough", slowReader{time.Second, 112, 100}, 0, false, 0},
		{"just too slow", slowReader{time.Second, 99, 100}, 0, true, 10 * time.Second},
		{"nothing for a window", slowReader{time.Hour, 1, 1}, 0, true, 10 * time.Second},
		{"one piece in each window", slowReader{9 * time.Second, 1000, 10}, 0, false, 0},
		{"a burst in the first window only", slowReader{11 * time.Second, 1 << 20, 3}, 0, true, 10 * time.Second},
		{"we take our time", slowReader{time.Second, 200, 100}, time.Minute, false, 0},
		{"it does not hide behind our time", slowReader{time.Second, 50, 100}, time.Minute, true, 10*time.Second + 9*time.Minute},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, after := time.Now(), time.Duration(0)
				slow := func() {
					if after == 0 {
						after = time.Since(start)
					}
				}
				m := &meter{r: &c.body, limit: 1 << 30, pace: newPace(10*time.Second, 1000, slow)}
				for buffer := make([]byte, 1<<20); ; time.Sleep(c.ours) {
					if _, err := m.Read(buffer); err != nil {
						break
					}
				}
				if slow := after != 0; slow != c.slow || slow && (after < c.after || after > c.after+2*time.Minute) {
					t.Errorf("slow %v after %s, want %v after %s", slow, after, c.slow, c.after)
				}
			})
		})
	}
}
