package namespace
import ("testing";"runtime";"time"; "fsweep/fsimage/imagetest";"bytes";"fsweep/fsimage")
func TestZZBomb(t *testing.T){
  for _, codec := range []string{imagetest.CodecGzip, imagetest.CodecLz4, imagetest.CodecZstd} {
  m := base().Image(); m.Codec=codec
  m.Section(imagetest.INodeDir).AddRaw(make([]byte, 64<<20))
  b := m.Bytes()
  var m0, m1 runtime.MemStats
  runtime.GC(); runtime.ReadMemStats(&m0); t0:=time.Now()
  tree, err := loadBytes(t, b, Options{Workers:2})
  runtime.ReadMemStats(&m1)
  t.Log(codec, len(b), err, tree!=nil, (m1.TotalAlloc-m0.TotalAlloc)>>20, "MiB total", (m1.Sys-m0.Sys)>>20, "sys", time.Since(t0))
  }
}
func TestZZSummary(t *testing.T){
  m := base().Image()
  m.Break.SummaryBytes = func(b []byte) []byte {
     n := (16<<20-1000)/7
     body := append([]byte(nil), b[2:]...)
     for i:=0;i<n;i++ { body = append(body, 0x22, 5+1, 0x0a, 4, '_','S','U','B') }
     out := []byte{}
     x := len(body)
     for x >= 0x80 { out = append(out, byte(x)|0x80); x >>= 7 }
     out = append(out, byte(x))
     return append(out, body...)
  }
  b := m.Bytes()
  var m0, m1 runtime.MemStats
  runtime.GC(); runtime.ReadMemStats(&m0); t0:=time.Now()
  _, err := fsimage.Open(bytes.NewReader(b), int64(len(b)))
  runtime.ReadMemStats(&m1)
  t.Log(len(b), err, (m1.TotalAlloc-m0.TotalAlloc)>>20, "MiB total", (m1.Sys-m0.Sys)>>20, "sys", time.Since(t0))
}
