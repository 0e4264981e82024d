import { expect, test } from 'vitest'
import { createEnvironment } from '../environment.js'
import { compile } from '../program.js'
import { toPlain } from '../values/plain-values.js'
import { RULE_ENVIRONMENT } from './rule-libraries.js'

const ENVIRONMENT = createEnvironment(RULE_ENVIRONMENT)
const p = 'google.protobuf.'

/** The value, or the message of the error. All of these were asked of kube-apiserver. */
function answer(expression: string): unknown {
  const compiled = compile(expression, ENVIRONMENT)
  if (!compiled.ok) return compiled.message.split('\n')[0]!.replace(/^ERROR: <input>:\d+:\d+: /, '')
  const { value, error } = compiled.program.evaluate({})
  return error === undefined ? toPlain(value!) : error.message
}

test.each([
  [`${p}Timestamp{seconds: 1, nanos: -5} == timestamp("1970-01-01T00:00:00.999999995Z")`, true],
  [`${p}Timestamp{?seconds: optional.none()} == timestamp("1970-01-01T00:00:00Z")`, true],
  [`${p}Duration{seconds: 61, nanos: -1} == duration("60.999999999s")`, true],
  [`${p}Duration{seconds: 9223372037, nanos: -1} == duration("9223372036.854775807s")`, true],
  [`${p}BoolValue{} == false && ${p}BoolValue{} != null`, true],
  [`type(${p}BoolValue{}) == bool`, true],
  [`${p}FloatValue{value: 0.1} == 0.1`, false],
  [`[1, ${p}Int64Value{value: 2}] == [1, 2]`, true],
  [`${p}StringValue{value: "a"} + "b"`, 'ab'],
  [`${p}Value{} == null`, true],
  [`${p}Value{number_value: 1.5, string_value: "a"}`, 'a'],
  [`${p}Value{null_value: ${p}NullValue.NULL_VALUE} == null`, true],
  [`${p}ListValue{values: [9007199254740993]}`, ['9007199254740993']],
  [`${p}ListValue{values: [b"a"]} == ["YQ=="]`, true],
  [`${p}ListValue{values: [timestamp("1970-01-01T00:00:01.5+02:00")]}`, ['1970-01-01T00:00:01.5+02:00']],
  [`${p}ListValue{values: [duration("1s")]}`, ['1s']],
  [`${p}Struct{fields: {"a": {"b": 1}}} == {"a": {"b": 1.0}}`, true],
  [`has(${p}Struct{fields: {"a": "b"}}.a)`, true],
  [`type(${p}Empty{}) == ${p}Empty`, true],
  [`${p}Empty{} == ${p}Empty{} && ${p}Empty{} != null`, true],
])('%s', (expression, value) => {
  expect(answer(expression)).toEqual(value)
})

const conversion = (name: string, error: string): string =>
  `field type conversion error for google.protobuf.${name} value type: ${error}`

test.each([
  [`${p}Timestamp{seconds: 1u}`, "expected type of field 'seconds' is 'int' but provided type is 'uint'"],
  [`${p}Timestamp{secs: 1}`, "undefined field 'secs'"],
  [`${p}BoolValue{}.value`, "type 'wrapper(bool)' does not support field selection"],
  [`type(true) == ${p}BoolValue`, 'reference to undefined type: google.protobuf.BoolValue'],
  [`${p}FieldMask{}`, "undeclared reference to 'google.protobuf.FieldMask' (in container '')"],
  [`${p}Timestamp{nanos: 3000000000}`, conversion('Timestamp.nanos', 'integer overflow')],
  [
    `${p}Timestamp{seconds: dyn(1u)}`,
    conversion('Timestamp.seconds', "unsupported type conversion from 'uint' to int64"),
  ],
  [
    `${p}Int32Value{value: dyn("5")}`,
    conversion('Int32Value.value', "unsupported native conversion from string to 'int32'"),
  ],
  [
    `${p}BoolValue{value: dyn(null)}`,
    conversion('BoolValue.value', "type conversion error from 'null_type' to 'bool'"),
  ],
  [
    `${p}BytesValue{value: dyn([1])}`,
    conversion('BytesValue.value', "unsupported type conversion from 'int' to uint8"),
  ],
  [
    `${p}Value{list_value: dyn(1)}`,
    conversion('Value.list_value', "unsupported type conversion from 'int' to *structpb.ListValue"),
  ],
  [`${p}ListValue{values: [type(1)]}`, conversion('ListValue.values', "type conversion not supported for 'type'")],
  [
    `${p}ListValue{values: [quantity("1")]}`,
    conversion('ListValue.values', "type conversion error from 'Quantity' to '*structpb.Value'"),
  ],
  [`${p}ListValue{values: dyn({})}`, 'unsupported field type for google.protobuf.ListValue.values: map(dyn, dyn)'],
  [`${p}Struct{fields: dyn({1: 1})}`, conversion('Struct.fields', "unsupported type conversion from 'int' to string")],
  [`${p}Value{struct_value: dyn(optional.none())}`, conversion('Value.struct_value', 'optional.none() dereference')],
])('%s is an error', (expression, error) => {
  expect(answer(expression)).toBe(error)
})
