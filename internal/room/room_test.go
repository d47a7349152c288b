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

func wantShortage(t *testing.T, k *Keeper, words string) {
	t.Helper()
	shortage, is := k.Shortage()
	if begin, again := k.Begin(); again != is || begin != shortage {
		t.Errorf("Begin says %v %v, Shortage %v %v", begin, again, shortage, is)
	}
	if is != (words != "") || !strings.Contains(shortage.Reason, words) {
		t.Errorf("a shortage: %v %q, want %q", is, shortage.Reason, words)
	}
}

// A disk below the reserve is a shortage, until it has an eighth more; measurements are rare.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disks{a: Space{Bytes: 100 * mib, Files: -1}, b: Space{Bytes: 50 * mib, Files: 1e6}}
		k := d.keeper(40 * mib)
		for range 100 {
			wantShortage(t, k, "")
		}
		if d.looks != 3 {
			t.Errorf("%d looks at 3 disks within a second", d.looks)
		}
		d.b.Bytes = 39*mib + 5000
		wantShortage(t, k, "") // believed for a second
		time.Sleep(time.Second)
		begun := time.Now()
		wantShortage(t, k, "39MiB left on the disk of b; 40MiB are needed")
		d.b.Bytes = 44 * mib
		time.Sleep(time.Second)
		wantShortage(t, k, "44MiB left on the disk of b; 45MiB are needed")
		if shortage, _ := k.Shortage(); !shortage.Since.Equal(begun) {
			t.Errorf("short since %s, want %s", shortage.Since, begun)
		}
		d.b.Bytes = 45 * mib
		time.Sleep(time.Second)
		wantShortage(t, k, "")
		d.b.Files = 999
		time.Sleep(time.Second)
		wantShortage(t, k, "room for 999 more files on the disk of b; 40MiB are needed")
		d.a.Bytes = 0
		time.Sleep(time.Second)
		wantShortage(t, k, "0B left on the disk of a; room for 999 more files on the disk of b; 45MiB are needed")
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
	wantShortage(t, d.keeper(0), "")
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
			if shortage, is := k.Shortage(); !is || shortage.Reason != "the bucket is full" || !shortage.Since.Equal(begun) {
				t.Errorf("within %s: %v %v", pause, shortage, is)
			}
			time.Sleep(time.Millisecond)
			if _, is := k.Shortage(); is {
				t.Errorf("a shortage after %s", pause)
			}
			if shortage, is := k.Trouble(); !is || shortage.Reason != "the bucket is full" || !shortage.Since.Equal(begun) {
				t.Errorf("no trouble after %s: %v %v", pause, shortage, is)
			}
			if _, is := k.Begin(); is {
				t.Errorf("the try is not made after %s", pause)
			}
			wantShortage(t, k, "the bucket is full") // while it is tried
		}
		time.Sleep(tryLimit) // it was lost
		if _, is := k.Begin(); is {
			t.Error("no other try after one that was lost")
		}
		wantShortage(t, k, "the bucket is full")
		k.Kept()
		for range 10 {
			wantShortage(t, k, "")
		}
		if shortage, is := k.Trouble(); is {
			t.Errorf("trouble at the end: %v", shortage)
		}
		k.Full("again")
		time.Sleep(firstPause)
		if _, is := k.Shortage(); is {
			t.Error("the pauses did not begin anew")
		}
	})
}

// A try that brings nothing to keep lets the next one come at once.
func TestSparedTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disks{a: Space{Bytes: 100 * mib, Files: -1}, b: Space{Bytes: 100 * mib, Files: -1}}
		k := d.keeper(mib)
		k.Full("the bucket is full")
		k.Spared() // of a request from before
		if _, is := k.Shortage(); !is {
			t.Error("it is not full any more")
		}
		time.Sleep(firstPause)
		for range 3 {
			if _, is := k.Begin(); is {
				t.Error("the next try is not made")
			}
			if _, is := k.Shortage(); !is {
				t.Error("others come while it is tried")
			}
			k.Spared()
		}
		if _, is := k.Trouble(); !is {
			t.Error("nothing was kept, and yet there is room")
		}
		if _, is := k.Begin(); is {
			t.Error("the last try is not made")
		}
		k.Kept()
		wantShortage(t, k, "")
	})
}

// A disk that can be measured needs no try.
func TestRefusalOfAMeasuredDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disks{a: Space{Bytes: 100 * mib, Files: -1}, b: Space{Bytes: 100 * mib, Files: -1}}
		k := d.keeper(mib)
		wantShortage(t, k, "")
		d.a.Bytes = 0
		k.Full("no space left on device")
		wantShortage(t, k, "0B left on the disk of a") // looked again at once
		d.a.Bytes = 100 * mib
		time.Sleep(time.Second)
		wantShortage(t, k, "")
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
