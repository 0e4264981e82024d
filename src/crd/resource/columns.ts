// The columns of a kind in a Table, and the cells of an object under them.

import { encodeJson } from '../../codec/json.js'
import type { Column } from '../../kinds/kind.js'
import { printNumber } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { ageCell } from '../../meta/table.js'
import { parseTime } from '../../meta/values/time.js'
import { isFloat, isInteger, isNumber, type Value, WholeFloat } from '../../meta/values/value.js'
import type { ColumnSpec } from '../definition.js'
import { type JsonPath, PathError, parseJsonPath } from './json-path.js'

export interface Columns {
  readonly columns: readonly Column[]
  cells(object: ApiObject, now: number): Value[]
}

const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object, which no other of its kind has in the same namespace.',
  priority: 0,
}

const AGE: ColumnSpec = {
  name: 'Age',
  type: 'date',
  description: 'How long ago the object was created.',
  jsonPath: '.metadata.creationTimestamp',
}

/** Without columns of its own, a kind shows the age of its objects. */
export function columnsOf(specs: readonly ColumnSpec[] | undefined): Columns {
  const readers = readersOf(specs?.length ? specs : [AGE])
  return {
    columns: [NAME, ...readers.map(({ spec }) => columnOf(spec))],
    cells: (object, now) => [metaOf(object).name ?? '', ...readers.map(reader => cellOf(reader, object, now))],
  }
}

interface Reader {
  readonly spec: ColumnSpec
  readonly path: JsonPath
}

/** A path that cannot be read ends the columns. */
function readersOf(specs: readonly ColumnSpec[]): Reader[] {
  const readers: Reader[] = []
  for (const spec of specs) {
    const path = parseJsonPath(spec.jsonPath)
    if (!path.ok) break
    readers.push({ spec, path: path.value })
  }
  return readers
}

const columnOf = ({ name, type, format = '', description, priority = 0, jsonPath }: ColumnSpec): Column => ({
  name,
  type,
  format,
  description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
  priority,
})

function cellOf({ spec: { type }, path }: Reader, object: ApiObject, now: number): Value {
  const found = firstOf(path, object)
  if (found === undefined) return null
  switch (type) {
    case 'string':
      return printed(found)
    case 'integer':
      return isInteger(found) ? found : isFloat(found) ? truncated(found) : null
    case 'number':
      return isInteger(found) ? Number(found) : isFloat(found) ? found : null
    case 'boolean':
      return typeof found === 'boolean' ? found : null
    case 'date':
      return typeof found === 'string' ? sinceThen(found, now) : null
    default:
      return null
  }
}

function firstOf(path: JsonPath, object: ApiObject): Value | undefined {
  try {
    return path(object)[0]
  } catch (error) {
    if (error instanceof PathError) return undefined
    throw error
  }
}

function printed(value: Value): string {
  if (value === null) return '<no value>'
  if (typeof value === 'string') return value
  if (isNumber(value)) return printNumber(value)
  return typeof value === 'boolean' ? String(value) : encodeJson(value, { sortKeys: true })
}

function truncated(value: number | WholeFloat): number | bigint {
  const whole = Math.trunc(value instanceof WholeFloat ? value.value : value)
  if (Number.isSafeInteger(whole)) return whole
  return Math.abs(whole) < 2 ** 63 ? BigInt(whole) : -(2n ** 63n)
}

function sinceThen(text: string, now: number): string {
  if (text === '' || text === 'null') return '<unknown>'
  const time = parseTime(text)
  return time.ok ? ageCell(time.value, now) : '<invalid>'
}
