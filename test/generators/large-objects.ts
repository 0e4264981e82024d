// Objects of the built-in kinds that are as expensive as their size allows: each list and each map of each type, filled with
// as many items as an object may have, and each text, made very long. The rest of an object is a recorded one that
// kube-apiserver has accepted, so that validation does not end early.
import { readFileSync } from 'node:fs'
import type { Value, ValueObject } from '../../src/meta/values/value.js'
import type { FieldSpec, TypeSpec } from '../../src/types/type.js'
import { acceptedObjects } from './recorded-requests.js'
import { createObjectGenerator, type GeneratedResource } from './typed-objects.js'

export interface LargeObject {
  readonly resource: GeneratedResource
  /** `core/v1.PodSpec.volumes plain` */
  readonly shape: string
  object(name: string): ValueObject
}

/** An object may have 100,000 members and items (`src/meta/object/value-limit.ts`); some are left for the rest of the object. */
const VALUES = 98_000
const BYTES = 2.8 * 2 ** 20
/** Long enough to see work that grows with the square of the length. */
const TEXT_BYTES = 2 ** 18
const MAX_DEPTH = 12

type Path = readonly (string | 0)[]

/** A list, a map or a text, where it was first found. */
interface Place {
  readonly resource: GeneratedResource
  readonly name: string
  readonly path: Path
  readonly type: string
  readonly field: FieldSpec
}

export function* largeObjects(): Generator<LargeObject> {
  const { types, kinds } = JSON.parse(
    readFileSync(new URL('../../data/builtin-kinds.json', import.meta.url), 'utf8'),
  ) as { types: Record<string, TypeSpec>; kinds: Record<string, string> }
  const { resources } = createObjectGenerator()
  const bases = acceptedObjects()
  for (const place of places(types, kinds, resources)) {
    const { resource, name, path, type } = place
    for (const [what, value] of valuesFor(types, type)) {
      yield {
        resource,
        shape: `${name} ${what}`,
        object: objectName => {
          const base = bases.get(`${resource.apiVersion} ${resource.kind}`) ?? { metadata: {} }
          const object = structuredClone({ ...base, apiVersion: resource.apiVersion, kind: resource.kind })
          const placed = setAt(types, kinds[`${resource.apiVersion} ${resource.kind}`]!, object, path, value())
          placed['metadata'] = {
            ...(placed['metadata'] as ValueObject),
            name: objectName,
            ...(resource.namespaced && { namespace: 'default' }),
          }
          return placed
        },
      }
    }
  }
}

/** Each field of each type once, by the shortest path. */
function* places(
  types: Record<string, TypeSpec>,
  kinds: Record<string, string>,
  resources: readonly GeneratedResource[],
): Generator<Place> {
  const seen = new Set<string>()
  let level = resources.map(resource => ({
    resource,
    path: [] as Path,
    type: kinds[`${resource.apiVersion} ${resource.kind}`]!,
  }))
  for (let depth = 0; level.length > 0 && depth < MAX_DEPTH; depth++) {
    const below: typeof level = []
    for (const { resource, path, type } of level) {
      for (const { owner, field } of fieldsOf(types, type)) {
        const name = `${owner}.${field.name}`
        if (seen.has(name) || (path.length === 0 && ['status', 'kind', 'apiVersion'].includes(field.name!))) continue
        seen.add(name)
        const at = [...path, field.name!]
        yield { resource, name, path: at, type: field.type, field }
        let element = field.type
        const inner: (string | 0)[] = [...at]
        while (element.startsWith('[]') || element.startsWith('{string}')) {
          inner.push(element.startsWith('[]') ? 0 : 'a')
          element = element.replace(/^(\[\]|\{string\})/, '')
        }
        if (types[element]) below.push({ resource, path: inner, type: element })
      }
    }
    level = below
  }
}

function fieldsOf(types: Record<string, TypeSpec>, type: string): { owner: string; field: FieldSpec }[] {
  return (types[type]?.fields ?? []).flatMap(field =>
    field.inline || field.name === undefined ? fieldsOf(types, field.type) : [{ owner: type, field }],
  )
}

function* valuesFor(types: Record<string, TypeSpec>, type: string): Generator<[what: string, value: () => Value]> {
  if (type.startsWith('[]')) {
    const element = type.slice(2)
    yield ['empty', () => filled(() => emptyOf(types, element))]
    yield ['plain', () => filled(i => plainOf(types, element, `a${i}`, 0))]
    yield ['same', () => filled(() => plainOf(types, element, 'a', 0))]
    if (types[element]) yield ['full', () => filled(i => plainOf(types, element, `a${i}`, 2))]
  } else if (type.startsWith('{string}')) {
    const element = type.slice('{string}'.length)
    const mapOf = (key: (i: number) => string, item: (i: number) => Value): ValueObject =>
      Object.fromEntries((filled(i => ({ [key(i)]: item(i) })) as ValueObject[]).flatMap(one => Object.entries(one)))
    yield [
      'keys',
      () =>
        mapOf(
          i => `a${i}`,
          i => plainOf(types, element, `a${i}`, 0),
        ),
    ]
    // The names of resources must have a domain.
    if (element === QUANTITY)
      yield [
        'domain keys',
        () =>
          mapOf(
            i => `a.b/a${i}`,
            () => '1',
          ),
      ]
    yield [
      'bad keys',
      () =>
        mapOf(
          i => `!${i}`,
          i => plainOf(types, element, `a${i}`, 0),
        ),
    ]
    yield [
      'long keys',
      () =>
        mapOf(
          i => `${i}${'a'.repeat(240)}`,
          i => plainOf(types, element, `${i}`, 0),
        ),
    ]
  } else if (type === 'string' || SCALARS.has(type)) {
    yield ['text', () => 'a.-/:,=(*'.repeat(TEXT_BYTES / 9)]
    yield ['digits', () => '1'.repeat(TEXT_BYTES)]
  }
}

const QUANTITY = 'api/resource.Quantity'
const SCALARS: ReadonlySet<string> = new Set([
  QUANTITY,
  'util/intstr.IntOrString',
  'meta/v1.Time',
  'meta/v1.MicroTime',
  'bytes',
])

/** As many items as an object may have. */
function filled(item: (i: number) => Value): Value[] {
  const first = item(99_999)
  const values = countOf(first) + (typeof first === 'object' ? 1 : 0.5)
  const bytes = JSON.stringify(first).length + 1
  const length = Math.floor(Math.min(VALUES / values, BYTES / bytes))
  return Array.from({ length }, (_, i) => item(i))
}

function countOf(value: Value): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value as ValueObject)
  return inner.reduce<number>((sum, one) => sum + countOf(one), inner.length)
}

function emptyOf(types: Record<string, TypeSpec>, type: string): Value {
  if (type.startsWith('[]')) return []
  if (type.startsWith('{string}') || types[type]) return {}
  return scalarOf(type, undefined, '')
}

/** `depth`: to how many levels fields are set that need not be. */
function plainOf(types: Record<string, TypeSpec>, type: string, text: string, depth: number, field?: FieldSpec): Value {
  if (type.startsWith('[]')) return [plainOf(types, type.slice(2), text, depth - 1)]
  if (type.startsWith('{string}')) return { [text]: plainOf(types, type.slice('{string}'.length), text, depth - 1) }
  const spec = types[type]
  if (!spec || SCALARS.has(type)) return scalarOf(type, field, text)
  const object: ValueObject = {}
  for (const { owner, field: one } of fieldsOf(types, type)) {
    const isNeeded = types[owner]!.required?.includes(one.name!) || NAMES.has(one.name!)
    if (isNeeded || depth > 0) object[one.name!] = plainOf(types, one.type, text, depth - 1, one)
  }
  return object
}

/** Fields that identify an item. */
const NAMES: ReadonlySet<string> = new Set(['name', 'key', 'topologyKey', 'port', 'containerPort', 'mountPath', 'ip'])

function scalarOf(type: string, field: FieldSpec | undefined, text: string): Value {
  const number = Number(text.slice(1) || '0') % 60_000
  switch (type) {
    case 'bool':
      return true
    case 'int32':
    case 'int64':
    case 'float64':
    case 'util/intstr.IntOrString':
      return number
    case QUANTITY:
      return '1'
    case 'bytes':
      return 'YQ=='
    case 'meta/v1.Time':
    case 'meta/v1.MicroTime':
      return '2024-01-01T00:00:00Z'
    default:
      return field?.enum ? field.enum[0]! : text
  }
}

/** The object with a value at a path; what is missing on the way is made as plain as it may be. */
function setAt(
  types: Record<string, TypeSpec>,
  type: string,
  object: ValueObject,
  path: Path,
  value: Value,
): ValueObject {
  const [step, ...rest] = path as [string, ...Path]
  const field = fieldsOf(types, type).find(one => one.field.name === step)!.field
  if (rest.length === 0) return { ...object, [step]: value }
  let element = field.type
  const steps = [...rest]
  while (element.startsWith('[]') || element.startsWith('{string}')) {
    element = element.replace(/^(\[\]|\{string\})/, '')
    steps.shift()
  }
  // Lists and maps of one item on the way.
  const wrap = (given: Value | undefined, left: string): Value => {
    if (left.startsWith('[]')) {
      const [first, ...others] = Array.isArray(given) ? given : []
      return [wrap(first, left.slice(2)), ...others]
    }
    if (left.startsWith('{string}')) {
      const inside = (given ?? {}) as ValueObject
      return { ...inside, a: wrap(inside['a'], left.slice('{string}'.length)) }
    }
    const there = given ?? plainOf(types, element, 'a', 0)
    return setAt(types, element, there as ValueObject, steps, value)
  }
  return { ...object, [step]: wrap(object[step], field.type) }
}
