package canonical

// ParseHex fills dst from exactly as many lower-case digits.
func ParseHex[T string | []byte](dst []byte, s T) bool {
	if len(s) != 2*len(dst) {
		return false
	}
	bad := byte(0)
	for i := range dst {
		hi, lo := unhex[s[2*i]], unhex[s[2*i+1]]
		dst[i] = hi<<4 | lo&15
		bad |= hi | lo
	}
	return bad < 16
}

// HexDigits are the digits in which all hashes are written.
const HexDigits = "0123456789abcdef"

// unhex has the value of each digit, 255 for any other byte.
var unhex = func() (table [256]byte) {
	for i := range table {
		table[i] = 255
	}
	for i, c := range []byte(HexDigits) {
		table[c] = byte(i)
	}
	return table
}()
