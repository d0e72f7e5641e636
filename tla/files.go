package tla

import "embed"

// Files are the specifications, their cfg files and the manifest, as they were
// when this package was compiled.
//
//go:embed *.tla cfg/*.cfg manifest.json
var Files embed.FS
