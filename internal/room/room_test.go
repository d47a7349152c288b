package room

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

// disks are the disks of folders "a" and "b", and how often they were looked at.
type disks struct {
	a, b  Space
	looks int
}

func (d *disks) measure(folder string) (Space, error) {
	d.looks++
	switch folder {
	case "a":
		return d.a, nil
	case "b":
		return d.b, nil
	}
	return Space{}, errors.New("no such folder")
}

func (d *disks) keeper(reserve int64) *Keeper {
	return New(Options{Folders: []string{"a", "b", "gone"}, Reserve: reserve, Measure: d.measure})
}

func wantHeld(t *testing.T, k *Keeper, words string) {
	t.Helper()
	hold, held := k.Held()
	if begin, again := k.Begin(); again != held || begin != hold {
		t.Errorf("Begin says %v %v, Held %v %v", begin, again, hold, held)
	}
	if held != (words != "") || !strings.Contains(hold.Reason, words) {
		t.Errorf("held: %v %q, want %q", held, hold.Reason, words)
	}
}

// A disk below the reserve holds, until it has an eighth more; measurements are rare.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disks{a: Space{Bytes: 100 * mib, Files: -1}, b: Space{Bytes: 50 * mib, Files: 1e6}}
		k := d.keeper(40 * mib)
		for range 100 {
			wantHeld(t, k, "")
		}
		if d.looks != 3 {
			t.Errorf("%d looks at 3 disks within a second", d.looks)
		}
		d.b.Bytes = 39*mib + 5000
		wantHeld(t, k, "") // believed for a second
		time.Sleep(time.Second)
		begun := time.Now()
		wantHeld(t, k, "39MiB left on the disk of b; 40MiB are needed")
		d.b.Bytes = 44 * mib
		time.Sleep(time.Second)
		wantHeld(t, k, "44MiB left on the disk of b; 45MiB are needed")
		if hold, _ := k.Held(); !hold.Since.Equal(begun) {
			t.Errorf("held since %s, want %s", hold.Since, begun)
		}
		d.b.Bytes = 45 * mib
		time.Sleep(time.Second)
		wantHeld(t, k, "")
		d.b.Files = 999
		time.Sleep(time.Second)
		wantHeld(t, k, "room for 999 more files on the disk of b; 40MiB are needed")
		d.a.Bytes = 0
		time.Sleep(time.Second)
		wantHeld(t, k, "0B left on the disk of a; room for 999 more files on the disk of b; 45MiB are needed")
	})
}

// Folders on one disk are one disk.
func TestSameDisk(t *testing.T) {
	d := &disks{a: Space{Bytes: 5, Files: -1, Disk: 7}, b: Space{Bytes: 5, Files: -1, Disk: 7}}
	if short := Short([]string{"a", "b"}, 10, d.measure); short != "no room: 5B left on the disk of a" {
		t.Error(short)
	}
}

func TestNoReserve(t *testing.T) {
	d := &disks{}
	wantHeld(t, d.keeper(0), "")
	if d.looks != 0 {
		t.Errorf("%d looks without a reserve", d.looks)
	}
}

// A full disk that cannot be measured is tried with one request at a time, ever more
// rarely, until all results of one are kept.
func TestRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disks{a: Space{Bytes: 100 * mib, Files: -1}, b: Space{Bytes: 100 * mib, Files: -1}}
		k := d.keeper(mib)
		begun := time.Now()
		for _, pause := range []time.Duration{firstPause, 2 * firstPause, 4 * firstPause, 8 * firstPause, 16 * firstPause, lastPause, lastPause} {
			k.Full("the bucket is full")
			k.Full("the bucket is full") // of the same time
			k.Kept()                     // of a request from before
			time.Sleep(pause - time.Millisecond)
			if hold, held := k.Held(); !held || hold.Reason != "the bucket is full" || !hold.Since.Equal(begun) {
				t.Errorf("within %s: %v %v", pause, hold, held)
			}
			time.Sleep(time.Millisecond)
			if _, held := k.Held(); held {
				t.Errorf("held after %s", pause)
			}
			if hold, held := k.Trouble(); !held || hold.Reason != "the bucket is full" || !hold.Since.Equal(begun) {
				t.Errorf("no trouble after %s: %v %v", pause, hold, held)
			}
			if _, held := k.Begin(); held {
				t.Errorf("the try is held after %s", pause)
			}
			wantHeld(t, k, "the bucket is full") // while it is tried
		}
		time.Sleep(tryLimit) // it was lost
		if _, held := k.Begin(); held {
			t.Error("no other try after one that was lost")
		}
		wantHeld(t, k, "the bucket is full")
		k.Kept()
		for range 10 {
			wantHeld(t, k, "")
		}
		if hold, held := k.Trouble(); held {
			t.Errorf("trouble at the end: %v", hold)
		}
		k.Full("again")
		time.Sleep(firstPause)
		if _, held := k.Held(); held {
			t.Error("the pauses did not begin anew")
		}
	})
}

// A disk that can be measured needs no try.
func TestRefusalOfAMeasuredDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disks{a: Space{Bytes: 100 * mib, Files: -1}, b: Space{Bytes: 100 * mib, Files: -1}}
		k := d.keeper(mib)
		wantHeld(t, k, "")
		d.a.Bytes = 0
		k.Full("no space left on device")
		wantHeld(t, k, "0B left on the disk of a") // looked again at once
		d.a.Bytes = 100 * mib
		time.Sleep(time.Second)
		wantHeld(t, k, "")
	})
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	space, err := Measure(t.TempDir())
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil || space.Bytes <= 0 || space.Files == 0 {
		t.Errorf("the disk of this test: %+v, %v", space, err)
	}
	if _, err := Measure("none/such"); err == nil {
		t.Error("a folder that is not there was measured")
	}
}
