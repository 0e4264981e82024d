// Objects of the built-in kinds, made from the table of types: every field may be there or not, with values of its type.
import { readFileSync } from 'node:fs'
import type { Value, ValueObject } from '../../src/meta/values/value.js'
import type { FieldSpec, TypeSpec } from '../../src/types/type.js'
import type { APIResource } from '../../src/types/type-table.js'
import type { Random } from '../storage/history/random.js'
import { oddText, plainText } from './texts.js'

interface Table {
  readonly kinds: Readonly<Record<string, string>>
  readonly resources: Readonly<Record<string, readonly APIResource[]>>
  readonly types: Readonly<Record<string, TypeSpec>>
}

/** A resource that objects are created of. */
export interface GeneratedResource {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
}

export interface ObjectGenerator {
  readonly resources: readonly GeneratedResource[]
  /** An object; most values are plausible, some are odd. */
  object(random: Random, resource: GeneratedResource, name: string): ValueObject
}

const MAX_DEPTH = 7

export function createObjectGenerator(): ObjectGenerator {
  const table = JSON.parse(readFileSync(new URL('../../data/builtin-kinds.json', import.meta.url), 'utf8')) as Table
  const resources = Object.entries(table.resources).flatMap(([apiVersion, list]) =>
    list
      .filter(({ name, verbs, group }) => !name.includes('/') && verbs.includes('create') && group === undefined)
      .map(({ name, kind, namespaced }) => ({ apiVersion, kind, plural: name, namespaced })),
  )

  function ofType(random: Random, type: string, field: FieldSpec | undefined, depth: number): Value {
    if (type.startsWith('[]')) return listOf(random, type.slice(2), field, depth)
    if (type.startsWith('{string}')) {
      const entries = Array.from({ length: random.number(3) }, () => [
        random.chance(0.1) ? oddText(random) : plainText(random),
        ofType(random, type.slice('{string}'.length), undefined, depth + 1),
      ])
      return Object.fromEntries(entries) as ValueObject
    }
    const spec = table.types[type]
    return spec ? struct(random, spec, depth) : scalar(random, type, field)
  }

  function listOf(random: Random, type: string, field: FieldSpec | undefined, depth: number): Value {
    const length = random.chance(0.02) ? 30 : random.number(3)
    const element = field?.elementEnum ? ({ ...field, enum: field.elementEnum } as FieldSpec) : undefined
    return Array.from({ length }, () => ofType(random, type, element, depth + 1))
  }

  function struct(random: Random, spec: TypeSpec, depth: number): ValueObject {
    const object: ValueObject = {}
    for (const field of spec.fields) {
      if (field.inline || field.name === undefined) {
        const inlined = table.types[field.type]
        if (inlined) Object.assign(object, struct(random, inlined, depth))
        continue
      }
      const isNeeded = spec.required?.includes(field.name) || !field.omitempty
      if (depth >= MAX_DEPTH || !random.chance(isNeeded ? 0.9 : 0.25)) continue
      object[field.name] = ofType(random, field.type, field, depth + 1)
    }
    return object
  }

  return {
    resources,
    object(random, { apiVersion, kind, namespaced }, name) {
      const object = struct(random, table.types[table.kinds[`${apiVersion} ${kind}`]!]!, 0)
      const metadata = random.chance(0.1) ? (object['metadata'] as ValueObject | undefined) : {}
      return {
        ...object,
        apiVersion,
        kind,
        metadata: { ...metadata, name, ...(namespaced && { namespace: 'default' }) },
      }
    },
  }
}

/** The last one is no number of JavaScript. */
const NUMBERS: readonly Value[] = [0, 1, -1, 80, 443, 65536, 2 ** 31, -(2 ** 31), 2 ** 53, 1.5, 1e300, 2n ** 62n + 1n]

function scalar(random: Random, type: string, field: FieldSpec | undefined): Value {
  if (random.chance(0.02)) return random.oneOf<Value>([null, {}, [], true, 1, 'x', -1.5])
  switch (type) {
    case 'bool':
      return random.chance(0.5)
    case 'int32':
    case 'int64':
    case 'float64':
      return random.oneOf(NUMBERS)
    case 'bytes':
      return Buffer.from(plainText(random)).toString('base64')
    default:
      if (field?.enum && random.chance(0.8)) return random.oneOf(field.enum)
      return random.chance(0.1) ? oddText(random) : plainText(random)
  }
}
