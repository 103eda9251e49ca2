package fsimage

import "slices"

// Type is the kind of an inode.
type Type uint8

// The kinds of inodes; the numbers are those of the file.
const (
	FileType      Type = 1
	DirectoryType Type = 2
	SymlinkType   Type = 3
)

// String gives the name that HDFS uses for the kind.
func (t Type) String() string {
	switch t {
	case FileType:
		return "FILE"
	case DirectoryType:
		return "DIRECTORY"
	case SymlinkType:
		return "SYMLINK"
	}
	return "UNKNOWN"
}

// INode is one record of section INODE. Only the part that Type names has a
// meaning. Slices point into the read buffer or are re-used: they are valid
// until the callback that received the INode returns.
type INode struct {
	Type      Type
	ID        uint64
	Name      []byte // last component; empty for the root; any bytes
	File      INodeFile
	Directory INodeDirectory
	Symlink   INodeSymlink

	has uint8
}

// INodeFile is what an INode of FileType holds.
type INodeFile struct {
	Replication        uint32 // 0 in striped files
	MTimeMs            uint64 // milliseconds since 1970, like all times here
	ATimeMs            uint64
	PreferredBlockSize uint64 // bytes
	Permission         Permission
	Blocks             []Block
	StoragePolicy      uint32 // id; 0: unspecified
	Striped            bool   // erasure coded
	ECPolicy           uint32 // id, if Striped
	UnderConstruction  bool
	UC                 UnderConstruction
	ACL                []uint32
	XAttrs             []XAttr

	rare bool // some of StoragePolicy and what follows it may be set
}

// INodeDirectory is what an INode of DirectoryType holds.
type INodeDirectory struct {
	MTimeMs    uint64
	NSQuota    int64 // inodes; -1 unset; 2^63-1 none
	DSQuota    int64 // bytes; -1 unset
	Permission Permission
	ACL        []uint32
	XAttrs     []XAttr
	TypeQuotas []TypeQuota
}

// INodeSymlink is what an INode of SymlinkType holds.
type INodeSymlink struct {
	Permission Permission
	Target     []byte
	MTimeMs    uint64
	ATimeMs    uint64
}

// Block is one block of a file.
type Block struct {
	ID, GenStamp, NumBytes uint64
}

// UnderConstruction names the writer of an open file.
type UnderConstruction struct {
	ClientName, ClientMachine []byte
}

// XAttr is an extended attribute. Name packs namespace, id of the name in the
// string table, and more; see [XAttr.Namespace] and [XAttr.NameID].
type XAttr struct {
	Name  uint32
	Value []byte
}

// TypeQuota is a quota of one storage type in bytes.
type TypeQuota struct {
	Type  uint8 // StorageTypeProto
	Quota uint64
}

// Permission packs user, group and mode as the file does: user << 40 | group <<
// 16 | mode, where user and group are ids of the string table.
type Permission uint64

// User is the owner's id in the string table.
func (p Permission) User() uint32 { return uint32(p >> 40) }

// Group is the group's id in the string table.
func (p Permission) Group() uint32 { return uint32(p>>16) & (1<<24 - 1) }

// Mode is the permission bits.
func (p Permission) Mode() uint16 { return uint16(p) }

// reset empties n and keeps the memory of its slices. A part that the last
// record did not have is empty already.
func (n *INode) reset() {
	n.Type, n.ID, n.Name = 0, 0, nil
	if n.has&hasFile != 0 {
		n.File.reset()
	}
	if n.has&hasDirectory != 0 {
		n.Directory.reset()
	}
	if n.has&hasSymlink != 0 {
		n.Symlink = INodeSymlink{}
	}
	n.has = 0
}

// Fields are set one by one: a whole new value would be made elsewhere first and
// copied.

func (f *INodeFile) reset() {
	if f.rare {
		f.resetRare()
	}
	f.Replication, f.MTimeMs, f.ATimeMs, f.PreferredBlockSize, f.Permission = 0, 0, 0, 0, 0
	f.Blocks = f.Blocks[:0]
}

func (f *INodeFile) resetRare() {
	f.rare = false
	f.StoragePolicy, f.Striped, f.ECPolicy, f.UnderConstruction = 0, false, 0, false
	f.UC.ClientName, f.UC.ClientMachine = nil, nil
	f.ACL, f.XAttrs = f.ACL[:0], f.XAttrs[:0]
}

func (d *INodeDirectory) reset() {
	d.MTimeMs, d.NSQuota, d.DSQuota, d.Permission = 0, 0, 0, 0
	d.ACL, d.XAttrs, d.TypeQuotas = d.ACL[:0], d.XAttrs[:0], d.TypeQuotas[:0]
}

// The parts of an INode that may hold something.
const (
	hasFile = 1 << iota
	hasDirectory
	hasSymlink
)

// UnmarshalINode decodes one INode message into n, re-using n's memory. The
// slices of n point into b. It accepts and refuses exactly what the generated
// code for the message does, but for enum values that the schema does not know:
// like Java, and unlike Go's generated code, it takes them as absent.
func UnmarshalINode(b []byte, n *INode) error { return n.unmarshal(slices.Clip(b)) }

func (n *INode) unmarshal(b []byte) error {
	n.reset()
	if tag, part := n.usual(b); tag != 0 {
		return n.unmarshalPart(tag, part)
	}
	hasID := false
	for i := 0; i < len(b); {
		tag, k := uint64(b[i]), i+1
		if !shortField(b[i]) {
			if tag, k = longField(b, i); k < 0 {
				return errWire
			}
		}
		i = k
		switch tag {
		case 1<<3 | wireVarint:
			var v uint64
			if v, i = uvarint(b, i); 1 <= int32(v) && int32(v) <= 3 && i >= 0 {
				n.Type = Type(v)
			}
		case 2<<3 | wireVarint:
			n.ID, i = uvarint(b, i)
			hasID = true
		case 3<<3 | wireBytes:
			n.Name, i = lenBytes(b, i)
		case 4<<3 | wireBytes, 5<<3 | wireBytes, 6<<3 | wireBytes:
			var sub []byte
			if sub, i = message(b, i); i >= 0 {
				if err := n.unmarshalPart(tag, sub); err != nil {
					return err
				}
			}
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return errWire
		}
	}
	if n.Type == 0 || !hasID {
		return errRequired
	}
	return nil
}

func (n *INode) unmarshalPart(tag uint64, b []byte) error {
	switch tag >> 3 {
	case 4:
		n.has |= hasFile
		return n.File.unmarshal(b)
	case 5:
		n.has |= hasDirectory
		return n.Directory.unmarshal(b)
	}
	n.has |= hasSymlink
	return n.Symlink.unmarshal(b)
}

// unmarshal merges the message b into f: a message that stands twice in a
// record counts as one, which is what protobuf prescribes.
func (f *INodeFile) unmarshal(b []byte) error {
	for i := f.usual(b); i < len(b); {
		tag, k := uint64(b[i]), i+1
		if !shortField(b[i]) {
			if tag, k = longField(b, i); k < 0 {
				return errWire
			}
		}
		i = k
		var v uint64
		switch tag {
		case 1<<3 | wireVarint:
			v, i = uvarint(b, i)
			f.Replication = uint32(v)
		case 2<<3 | wireVarint:
			f.MTimeMs, i = uvarint(b, i)
		case 3<<3 | wireVarint:
			f.ATimeMs, i = uvarint(b, i)
		case 4<<3 | wireVarint:
			f.PreferredBlockSize, i = uvarint(b, i)
		case 5<<3 | wireFixed64:
			v, i = fixed64(b, i)
			f.Permission = Permission(v)
		case 6<<3 | wireBytes:
			var sub []byte
			if sub, i = message(b, i); i >= 0 {
				f.Blocks = append(f.Blocks, Block{})
				if err := f.Blocks[len(f.Blocks)-1].unmarshal(sub); err != nil {
					return err
				}
			}
		default:
			var err error
			if i, err = f.unmarshalRare(b, i, tag); err != nil {
				return err
			}
		}
		if i < 0 {
			return errWire
		}
	}
	return nil
}

// unmarshalRare reads the fields that few files have.
func (f *INodeFile) unmarshalRare(b []byte, i int, tag uint64) (int, error) {
	f.rare = true
	var v uint64
	var sub []byte
	var err error
	switch tag {
	case 7<<3 | wireBytes:
		f.UnderConstruction = true
		if sub, i = message(b, i); i >= 0 {
			err = f.UC.unmarshal(sub)
		}
	case 8<<3 | wireBytes:
		if sub, i = message(b, i); i >= 0 {
			f.ACL, err = appendACL(f.ACL, sub)
		}
	case 9<<3 | wireBytes:
		if sub, i = message(b, i); i >= 0 {
			f.XAttrs, err = appendXAttrs(f.XAttrs, sub)
		}
	case 10<<3 | wireVarint:
		v, i = uvarint(b, i)
		f.StoragePolicy = uint32(v)
	case 11<<3 | wireVarint:
		// An enum value that the schema does not know counts as absent.
		if v, i = uvarint(b, i); int32(v) == 0 || int32(v) == 1 {
			f.Striped = int32(v) == 1
		}
	case 12<<3 | wireVarint:
		v, i = uvarint(b, i)
		f.ECPolicy = uint32(v)
	default:
		i = skip(b, i, tag)
	}
	return i, err
}

func (blk *Block) unmarshal(b []byte) error {
	const id, genStamp = 1, 2
	var has uint8
	for i := 0; i < len(b); {
		tag, k := uint64(b[i]), i+1
		if !shortField(b[i]) {
			if tag, k = longField(b, i); k < 0 {
				return errWire
			}
		}
		i = k
		switch tag {
		case 1<<3 | wireVarint:
			blk.ID, i = uvarint(b, i)
			has |= id
		case 2<<3 | wireVarint:
			blk.GenStamp, i = uvarint(b, i)
			has |= genStamp
		case 3<<3 | wireVarint:
			blk.NumBytes, i = uvarint(b, i)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return errWire
		}
	}
	if has != id|genStamp {
		return errRequired
	}
	return nil
}
