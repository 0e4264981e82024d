// An object of a built-in kind with one field changed, for every field of its type: removed, empty, of another value,
// repeated, out of bounds, of a bad form.
import { typeOf, valueOfType } from './builtin-values.mjs'
import { createRandom } from './random.mjs'

/** Every change of a field but those of the status. */
export function* fieldChanges(resource, object, changes = 'values') {
  if (changes === 'empty') {
    yield* emptied(typeOf(resource), object, new Set(['apiVersion', 'kind', 'status']))
    return
  }
  const { name: _, namespace: __, ...metadata } = METADATA
  for (const [key, values] of Object.entries(metadata)) {
    for (const value of values) yield { ...object, metadata: { ...object.metadata, [key]: value } }
  }
  yield* changesOf(typeOf(resource), object, 0, new Set(['apiVersion', 'kind', 'metadata', 'status']))
}

/** Every change of a field of the status. */
export function* statusChanges(resource, object, { samples = [], changes = 'values' } = {}) {
  const field = typeOf(resource)?.fields.find(({ name }) => name === 'status')
  if (!field) return
  if (changes === 'empty') {
    for (const status of [object.status ?? {}, ...samples])
      for (const changed of emptied(typeOf(field.type), status)) yield { ...object, status: changed }
    return
  }
  const random = createRandom(7)
  const starts = [
    object.status ?? {},
    ...samples,
    ...Array.from({ length: 4 }, () => valueOfType(random, field.type, 'status', { density: 0.5, hostility: 0 })),
  ]
  for (const status of starts) {
    yield { ...object, status }
    for (const changed of changesOf(typeOf(field.type), status, 1)) yield { ...object, status: changed }
  }
}

/** The object with one list or map empty, whether it was there or not. */
function* emptied(type, object, except = new Set()) {
  for (const field of type?.fields ?? []) {
    if (field.inline) yield* emptied(typeOf(field.type), object, except)
    else if (!except.has(field.name)) {
      if (field.type.startsWith('[]')) yield { ...object, [field.name]: [] }
      if (field.type.startsWith('{string}')) yield { ...object, [field.name]: {} }
      for (const inner of emptiedInside(field.type, object[field.name])) yield { ...object, [field.name]: inner }
    }
  }
}

function* emptiedInside(type, value) {
  if (type.startsWith('[]') && Array.isArray(value)) {
    for (const [i, item] of value.entries())
      for (const inner of emptiedInside(type.slice(2), item)) yield value.with(i, inner)
  } else if (type.startsWith('{string}') && isObject(value)) {
    for (const [key, item] of Object.entries(value))
      for (const inner of emptiedInside(type.slice('{string}'.length), item)) yield { ...value, [key]: inner }
  } else if (isObject(value)) yield* emptied(typeOf(type), value)
}

const METADATA = {
  labels: [{ a: 'b' }, { 'bad key': 'x' }, { a: 'bad value!' }, null],
  annotations: [{ a: 'b' }, { 'bad key': 'x' }, null],
  finalizers: [['example.com/x'], ['x'], ['a b'], null],
  generation: [7],
}

const MAX_DEPTH = 10

function* changesOf(type, object, depth, except = new Set()) {
  if (!type || depth > MAX_DEPTH) return
  for (const field of type.fields) {
    if (field.inline) {
      yield* changesOf(typeOf(field.type), object, depth, except)
      continue
    }
    if (except.has(field.name)) continue
    const isThere = Object.hasOwn(object, field.name)
    if (isThere) {
      const { [field.name]: _, ...rest } = object
      yield rest
      for (const inner of innerChanges(field.type, object[field.name], field, depth + 1))
        yield { ...object, [field.name]: inner }
    }
    for (const value of valuesFor(field, object[field.name])) yield { ...object, [field.name]: value }
  }
}

/** Changes within the value of a field. */
function* innerChanges(type, value, field, depth) {
  if (type.startsWith('[]') && Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      for (const inner of innerChanges(type.slice(2), item, field, depth + 1)) yield value.with(i, inner)
      if (typeof item !== 'object')
        for (const other of valuesFor({ ...field, type: type.slice(2) }, item)) yield value.with(i, other)
      if (value.length > 1) yield value.toSpliced(i, 1)
    }
    if (value.length > 0) yield [...value, value[0]]
    if (value.length > 1) yield value.toReversed()
  } else if (type.startsWith('{string}') && isObject(value)) {
    const inner = type.slice('{string}'.length)
    for (const key of Object.keys(value)) {
      const { [key]: item, ...rest } = value
      if (Object.keys(rest).length > 0) yield rest
      for (const changed of innerChanges(inner, item, field, depth + 1)) yield { ...value, [key]: changed }
      for (const other of valuesFor({ ...field, type: inner }, item).slice(0, 6)) yield { ...value, [key]: other }
      for (const bad of ['', 'bad key', 'a/b/c', 'kubernetes.io/x', 'A', 'x'.repeat(64)]) yield { ...rest, [bad]: item }
    }
  } else if (isObject(value)) yield* changesOf(typeOf(type), value, depth)
}

const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value)

/** Other values for a field. Empty lists and maps are left out: here they are the same as none, and messages show that. */
function valuesFor(field, present) {
  const { type } = field
  const random = createRandom(type.length * 31 + field.name.length)
  const generated = (density, count) =>
    Array.from({ length: count }, () => valueOfType(random, type, field.name, { density, hostility: 0 }))
  const isDifferent = value => JSON.stringify(value) !== JSON.stringify(present)
  if (type.startsWith('[]')) {
    const items = present === undefined ? generated(0.4, 3) : []
    return [null, ...items, ...(type === '[]string' ? [['a', 'a'], [''], ['B_d!'], ['a', 'b']] : [])].filter(
      isDifferent,
    )
  }
  if (type.startsWith('{string}')) return [null, ...generated(0.4, 2)].filter(isDifferent)
  switch (type) {
    case 'string':
      return [...(field.enum ?? []), ...STRINGS].filter(isDifferent)
    case 'bool':
      return [true, false, null].filter(isDifferent)
    case 'int32':
    case 'int64':
      return [0, 1, -1, 2, 65_536, 2_147_483_647, null].filter(isDifferent)
    case 'float64':
      return [0, -1, 1.5]
    case 'bytes':
      return ['', 'aGk=', 'x'].filter(isDifferent)
    case 'api/resource.Quantity':
      return ['0', '-1', '1', '100m', '1500', '1Gi', 'x', null].filter(isDifferent)
    case 'util/intstr.IntOrString':
      return [0, 1, -1, '50%', '200%', 'http', 'x%', '', 70_000].filter(isDifferent)
    case 'meta/v1.Time':
    case 'meta/v1.MicroTime':
      return ['2024-01-02T03:04:05Z', '2030-01-02T03:04:05.000000Z', null].filter(isDifferent)
    case 'meta/v1.Duration':
      return ['1s', '-1s', '1h0m0s', 'x'].filter(isDifferent)
    default:
      return [null, {}, ...(present === undefined ? [...generated(0.3, 3), ...generated(0.8, 2)] : [])].filter(
        isDifferent,
      )
  }
}

const STRINGS = ['', 'a', 'b.example.com', 'Not_valid!', '/a/../b', 'x'.repeat(300)]
