package main

import "strings"

// instead is the end of a sentence about an unknown name: those that are
// near to it, or all.
func instead(name string, known []string) string {
	var near []string
	for _, k := range known {
		begins := min(len(name), len(k)) > 2 && (strings.HasPrefix(k, name) || strings.HasPrefix(name, k))
		if begins || distance(name, k) <= max(1, len(k)/3) {
			near = append(near, k)
		}
	}
	if len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return "; there are " + strings.Join(known, ", ")
}

// distance is the least number of bytes to insert, remove or replace to turn
// a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from a's prefix to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
