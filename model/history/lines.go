package history

import (
	"bufio"
	"fmt"
	"io"
)

// MaxLine is the longest line that is read, in bytes.
const MaxLine = 1 << 20

// lines splits a stream into lines and numbers them from 1.
type lines struct {
	r      *bufio.Reader
	number int // of the last line that was returned
	long   []byte
}

// next returns the next line without its newline, valid until the next call.
// It returns io.EOF after the last, and a *LineError for a line that has no
// newline or is longer than MaxLine.
func (l *lines) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.long)+len(part) > MaxLine {
			return nil, &LineError{l.number + 1, fmt.Sprintf("at most %d bytes", MaxLine), "more"}
		}
		switch {
		case err == nil && len(l.long) == 0:
			l.number++
			return part[:len(part)-1], nil
		case err == bufio.ErrBufferFull || err == nil:
			l.long = append(l.long, part...)
			if err == nil {
				l.number++
				return l.long[:len(l.long)-1], nil
			}
		case err == io.EOF && len(l.long)+len(part) == 0:
			return nil, io.EOF
		case err == io.EOF:
			return nil, &LineError{l.number + 1, "a newline at the end of the line", "the end of the file: the last line is cut off"}
		default:
			return nil, fmt.Errorf("history: line %d: %w", l.number+1, err)
		}
	}
}
