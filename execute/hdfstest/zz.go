package hdfstest

func statusCases() []test      { return nil }
func summaryCases() []test     { return nil }
func xattrCases() []test       { return nil }
func trashCases() []test       { return nil }
func mkdirsCases() []test      { return nil }
func permissionCases() []test  { return nil }
func refusalCases() []test     { return nil }
func snapshotCases() []test    { return nil }
func retryCases() []test       { return nil }
func readerCases() []test      { return nil }
func nameserviceCases() []test { return nil }
