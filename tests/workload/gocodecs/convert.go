// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

package main

import (
	"reflect"
	"strings"

	truth "hbprof/workload/lib"
)

// types makes the document's value and an empty one, in the types of a codec.
type types func(d *truth.Doc) (value any, fresh func() any)

// typesOf takes a pointer to each of the four documents.
func typesOf(protos ...any) types {
	return func(d *truth.Doc) (any, func() any) {
		for i, name := range truth.DocNames() {
			if name == d.Name {
				t := reflect.TypeOf(protos[i]).Elem()
				fresh := func() any { return reflect.New(t).Interface() }
				v := fresh()
				convert(v, d.Value)
				return v, fresh
			}
		}
		return nil, nil
	}
}

// convert copies what src points to into what dst points to: fields of the same name, whatever its
// case, integers of any size, structs and pointers to them. No codec does that here, as its calls
// would be measured.
func convert(dst, src any) {
	copyValue(reflect.ValueOf(dst).Elem(), reflect.ValueOf(src).Elem())
}

func copyValue(dst, src reflect.Value) {
	if src.Kind() == reflect.Pointer {
		src = src.Elem()
	}
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	switch src.Kind() {
	case reflect.Struct:
		copyStruct(dst, src)
	case reflect.Slice:
		if src.IsNil() {
			return
		}
		dst.Set(reflect.MakeSlice(dst.Type(), src.Len(), src.Len()))
		for i := range src.Len() {
			copyValue(dst.Index(i), src.Index(i))
		}
	case reflect.Int, reflect.Int64:
		dst.SetInt(src.Int())
	default:
		dst.Set(src)
	}
}

func copyStruct(dst, src reflect.Value) {
	for i := range src.NumField() {
		f := src.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		to := dst.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, f.Name) })
		if to.IsValid() {
			copyValue(to, src.Field(i))
		}
	}
}
