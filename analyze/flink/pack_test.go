package flink

import (
	"fmt"
	"reflect"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"fsweep/analyze/namespace"
)

// fill sets all that is in a value, each part to something else.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() { // not where checkpoints are stored
				fill(f, n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d\n\xff", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(int64(*n) << 40 * int64(1-*n%2*2))
	case reflect.Uint8:
		v.SetUint(uint64(*n%7 + 1))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		panic(v.Type().String())
	}
}

// TestPackUnit: a unit is the same again, whatever is in it.
func TestPackUnit(t *testing.T) {
	t.Parallel()
	none := Area{Dir: namespace.NoDir}
	check := func(name string, u *Unit) {
		t.Helper()
		if diff := gocmp.Diff(u, ReadUnit(AppendUnit(nil, u)), gocmp.AllowUnexported(Stored{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	check("empty", &Unit{Shared: none, Taskowned: none})
	check("no other bytes", &Unit{Shared: none, Taskowned: none, InProgress: []File{{Name: "a"}, {Extra: []byte{}}}})
	var full Unit
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	check("full", &full)
	check("a bare checkpoint", &Unit{Shared: none, Taskowned: none, Checkpoints: []*Checkpoint{{}}})
	for i, flag := range full.Flags.all() { // each in its own place
		u := Unit{Shared: none, Taskowned: none}
		*u.Flags.all()[i] = true
		check(fmt.Sprint("flag ", i), &u)
		if *flag = false; i == len(full.Flags.all())-1 && full.Flags != (Flags{}) {
			t.Errorf("more flags: %+v", full.Flags)
		}
	}
}
