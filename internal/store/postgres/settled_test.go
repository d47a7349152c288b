package postgres

import "testing"

func TestSettled(t *testing.T) {
	t.Parallel()
	type step struct {
		look given
		want int64
	}
	at := func(id int64, holders ...string) given { return given{id, holders} }
	for _, c := range []struct {
		what  string
		steps []step
	}{
		{"nobody writes", []step{{at(5), 5}, {at(9), 9}, {at(9), 9}}},
		{"a writer ends", []step{{at(5, "3/1"), 0}, {at(5), 5}}},
		{"others come", []step{{at(5, "3/1"), 0}, {at(6, "3/1", "4/1"), 0}, {at(7, "4/1", "3/2"), 5}, {at(8, "3/3"), 7}}},
		{"a writer stays", []step{{at(5), 5}, {at(6, "3/1"), 5}, {at(60, "3/1", "4/7"), 5}, {at(70, "4/8"), 6}, {at(70), 70}}},
		{"nothing is new", []step{{at(5), 5}, {at(5, "3/1"), 5}, {at(5, "3/1"), 5}, {at(6), 6}}},
		{"one is prepared", []step{{at(5, "3/1"), 0}, {at(5, preparedMark+"-1/7"), 0}, {at(6, preparedMark+"-1/7"), 0}, {at(6), 6}}},
		{"one was prepared before", []step{{at(5, preparedMark+"-1/7"), 0}, {at(6, "3/1"), 5}}},
	} {
		var s settled
		for i, step := range c.steps {
			s.see(step.look)
			if s.id != step.want {
				t.Errorf("%s: settled up to %d at look %d, want %d", c.what, s.id, i+1, step.want)
			}
		}
	}
}
