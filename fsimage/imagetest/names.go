package imagetest

import (
	"strconv"
	"time"
)

// words make names less alike; one is not ASCII.
func word(r uint64) string {
	return [...]string{
		"events", "clicks", "orders", "export", "raw", "daily", "model", "features", "train", "users",
		"report", "größe", "sessions", "index", "backup", "metrics",
	}[r%16]
}

// appendName appends the name of an inode. Names ascend with the ordinal within the
// directories and the files of a directory, and directories come first.
func (p *plan) appendName(b []byte, i uint32) []byte {
	if i == 0 {
		return b
	}
	if p.kind[i] == uint8(Directory) {
		return p.appendDirName(b, i)
	}
	d := p.link[i]
	ord, n := i-p.first[d]-p.subs[d], p.count[d]-p.subs[d]
	r := p.roll(i, 9)
	switch p.shape[d] {
	case shapeCell, shapeKept, shapeGone:
		return append(b, p.cellName(p.shape[d], i, ord)...)
	case shapeChk, shapeSavepoint:
		if ord == 0 {
			return append(b, "_metadata"...)
		}
		return appendUUID(b, r, ord, n)
	case shapeShared, shapeTaskowned, shapeRun:
		return appendUUID(b, r, ord, n)
	case shapeApp, shapeDate, shapeLogs:
		b = appendPadded(append(b, "application_"...), ord, n, 6)
		b = appendHex(append(b, '_'), r, 6)
		return append(b, ".log.gz"...)
	case shapeTmp:
		return appendPadded(append(b, "spill-"...), ord, n, 8)
	case shapeHome, shapeProject, shapeTrash:
		b = appendPadded(append(b, 'f'), ord, n, 5)
		b = append(append(b, '_'), word(r)...)
		return append(b, [...]string{".csv", ".json", ".parquet", "", ".txt", ".bin", ".py", ".orc"}[r>>8%8]...)
	}
	if ord == 0 && n > 1 {
		return append(b, "_SUCCESS"...)
	}
	b = appendPadded(append(b, "part-"...), ord, n, 5)
	b = appendHex(append(b, '-'), r, 8)
	return append(b, ".parquet"...)
}

func (p *plan) appendDirName(b []byte, i uint32) []byte {
	d := p.link[i]
	parent := p.parent[d]
	ord, n := i-p.first[parent], p.subs[parent]
	r := p.roll(i, 9)
	switch p.shape[d] {
	case shapeCold:
		return append(b, "cold"...)
	case shapeEC:
		return append(b, "ec"...)
	case shapeCheckpoints:
		return append(b, "checkpoints"...)
	case shapeSavepoints:
		return append(b, "savepoints"...)
	case shapeTrash:
		return append(b, ".Trash"...)
	case shapeShared:
		return append(b, "shared"...)
	case shapeTaskowned:
		return append(b, "taskowned"...)
	case shapeChk:
		return strconv.AppendUint(append(b, "chk-"...), 1000+p.roll(p.node[parent], 10)%8900+uint64(ord), 10)
	case shapeRun:
		return appendHex(appendScaled(b, ord, n, 32), r, 24)
	case shapeSavepoint:
		b = appendScaled(append(b, "savepoint-"...), ord, n, 24)
		return appendHex(append(b, '-'), r, 12)
	case shapeDate, shapeDay:
		if p.shape[d] == shapeDay {
			b = append(b, "dt="...)
		}
		day := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(ord))
		return day.AppendFormat(b, "2006-01-02")
	case shapeHour:
		return appendPadded(append(b, "hour="...), ord, n, 2)
	case shapeSnap, shapeArchive, shapeData, shapeFlink, shapeLogs, shapeTmp, shapeUser, shapeWarehouse:
		return append(b, p.top()[ord].name...)
	case shapeKept, shapeGone, shapeMoved:
		return append(b, cellDirName(p.shape[d])...)
	}
	prefix := "d"
	switch p.shape[d] {
	case shapeJob:
		prefix = "job-"
	case shapeApp:
		prefix = "app-"
	case shapeHome:
		prefix = "u"
	case shapeDatabase:
		prefix = "db"
	case shapeTable:
		prefix = "t"
	case shapeBucket:
		prefix = "bucket="
	case shapeCell:
		return appendPadded(append(b, "cell-"...), ord, n, 5)
	}
	b = appendPadded(append(b, prefix...), ord, n, 4)
	return append(append(b, '_'), word(r)...)
}

// appendPadded appends a decimal number, with more digits when n values need them.
func appendPadded(b []byte, v, n uint32, width int) []byte {
	for limit := pow10(width); n > limit && width < 9; limit *= 10 {
		width++
	}
	var digits [10]byte
	for k := width - 1; k >= 0; k-- {
		digits[k] = byte('0' + v%10)
		v /= 10
	}
	return append(b, digits[:width]...)
}

func pow10(n int) uint32 {
	v := uint32(1)
	for range n {
		v *= 10
	}
	return v
}

// appendHex appends digits lower-case hex digits of r; more than 16 repeat it mixed.
func appendHex(b []byte, r uint64, digits int) []byte {
	for k := range digits {
		if k == 16 {
			r = mix(r)
		}
		b = append(b, "0123456789abcdef"[r>>(k%16*4)&15])
	}
	return b
}

// appendScaled appends ord as if it were a hash of that many bits: n values spread
// over the whole range, ascending.
func appendScaled(b []byte, ord, n uint32, bits int) []byte {
	v := (uint64(ord)<<bits + 1<<(bits-1)) / uint64(max(n, 1))
	for k := bits - 4; k >= 0; k -= 4 {
		b = append(b, "0123456789abcdef"[v>>k&15])
	}
	return b
}

// appendUUID appends a uuid. The first digit is a letter, so that it sorts after
// "_metadata".
func appendUUID(b []byte, r uint64, ord, n uint32) []byte {
	v := 0xa0000000 + uint64(ord)*0x5fffffff/uint64(max(n, 1))
	for k := 28; k >= 0; k -= 4 {
		b = append(b, "0123456789abcdef"[v>>k&15])
	}
	b = append(b, '-')
	for _, g := range [...]int{4, 4, 4} {
		b = append(appendHex(b, r, g), '-')
		r >>= 16
	}
	return appendHex(b, mix(r), 12)
}

// appendPath appends the path of an inode.
func (p *plan) appendPath(b []byte, i uint32) []byte {
	if i == 0 {
		return append(b, '/')
	}
	d := p.link[i]
	if p.kind[i] == uint8(Directory) {
		d = p.parent[d]
	}
	if d != 0 {
		b = p.appendPath(b, p.node[d])
	}
	return p.appendName(append(b, '/'), i)
}
