package tla

import (
	"fmt"
	"reflect"
	"strconv"
)

// setField sets the field of c that is called as the constant, a number or
// TRUE or FALSE, to the value as cfg files write it. It returns an error if
// there is no such field or it has no such value.
func setField[C any](c *C, constant, value string) error {
	field := reflect.ValueOf(c).Elem().FieldByName(constant)
	switch field.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("tla: %s is %q: want a number", constant, value)
		}
		field.SetInt(int64(n))
	case reflect.Bool:
		if value != "TRUE" && value != "FALSE" {
			return fmt.Errorf("tla: %s is %q: want TRUE or FALSE", constant, value)
		}
		field.SetBool(value == "TRUE")
	default:
		return fmt.Errorf("tla: no constant is called %s", constant)
	}
	return nil
}
