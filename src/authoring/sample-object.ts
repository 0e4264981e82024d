// An object that a schema accepts, for authors to start from: required fields and defaults, or every field. Rules of CEL and
// combinations by anyOf and oneOf are not looked at.

import { compileRegex, isRegexError } from '../base/regex-cache.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import { parseSchema, type Schema } from '../schema/structural.js'
import type { Type } from '../types/type.js'

export interface SampleOptions {
  /** Every field that is declared, not only those that are required. */
  readonly optional: boolean
}

const MAX_DEPTH = 8
const MAX_FIELDS = 2000
/** Fields that the server sets. */
const SYSTEM = new Set(['apiVersion', 'kind', 'metadata', 'status'])

export function sampleObject(type: Type, { optional }: SampleOptions): ValueObject {
  const sampler: Sampler = { optional, left: MAX_FIELDS }
  const { written } = type
  const value = written ? ofSchema(parseSchema(written), sampler, 0) : ofType(type, sampler, 0)
  return value as ValueObject
}

interface Sampler {
  readonly optional: boolean
  /** How many more fields there may be. */
  left: number
}

const isWanted = (name: string, required: boolean, { optional, left }: Sampler, depth: number): boolean => {
  if (depth === 0 && SYSTEM.has(name)) return false
  // The spec is what an author wants to see, whether it is required or not.
  return required || (depth === 0 && name === 'spec') || (optional && left > 0 && depth < MAX_DEPTH)
}

// ---- custom kinds

function ofSchema(schema: Schema, sampler: Sampler, depth: number): Value {
  sampler.left--
  const { type, checks, extensions, properties, items, additionalProperties } = schema
  if (schema.default !== undefined) return schema.default
  if (checks.enum.length > 0) return checks.enum[0]!
  if (extensions.intOrString) return 80
  switch (type) {
    case 'string':
      return textFor(checks)
    case 'integer':
    case 'number':
      return numberFor(checks)
    case 'boolean':
      return false
    case 'array': {
      const count = Math.min(checks.minItems ?? (sampler.optional && depth < MAX_DEPTH ? 1 : 0), 20)
      return items ? Array.from({ length: count }, () => ofSchema(items, sampler, depth + 1)) : []
    }
    case 'object': {
      const object: ValueObject = {}
      for (const [name, property] of properties) {
        const isDefault = property.default !== undefined && !(depth === 0 && SYSTEM.has(name))
        if (isDefault || isWanted(name, checks.required.includes(name), sampler, depth)) {
          object[name] = ofSchema(property, sampler, depth + 1)
        }
      }
      if (typeof additionalProperties === 'object' && ((checks.minProperties ?? 0) > 0 || sampler.optional)) {
        if (depth < MAX_DEPTH) object['key'] = ofSchema(additionalProperties, sampler, depth + 1)
      }
      return object
    }
    default:
      return {}
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2025-01-01T00:00:00Z',
  date: '2025-01-01',
  duration: '1h',
  ipv4: '10.0.0.1',
  ipv6: 'fd00::1',
  cidr: '10.0.0.0/24',
  uri: 'https://example.com',
  hostname: 'host.example.com',
  email: 'user@example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
  mac: '00:00:5e:00:53:01',
  byte: 'AA==',
}

/** What patterns most often ask for; the first that fits is taken. */
const TEXTS = [
  'example',
  'a',
  '1',
  'v1',
  '10Gi',
  'example.com',
  '10.0.0.1',
  '1h',
  'Example',
  'https://example.com',
  'A',
]

function textFor({ format, minLength = 0, maxLength = Infinity, pattern }: Schema['checks']): string {
  const known = FORMATS[format]
  if (known !== undefined) return known
  const long = TEXTS.map(text => text.padEnd(Math.min(minLength, 1000), text.at(-1)).slice(0, maxLength))
  return (pattern === '' ? undefined : long.find(text => fits(pattern, text))) ?? long[0]!
}

function fits(pattern: string, text: string): boolean {
  const compiled = compileRegex(pattern)
  return !isRegexError(compiled) && compiled.matcher(text).find()
}

function numberFor(checks: Schema['checks']): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = checks
  const step = multipleOf ?? 1
  if (minimum !== undefined) {
    const from = Math.ceil(minimum / step) * step
    return exclusiveMinimum && from === minimum ? from + step : from
  }
  if (maximum === undefined || maximum > 1 || (maximum === 1 && !exclusiveMaximum)) return step
  const to = Math.floor(maximum / step) * step
  return exclusiveMaximum && to === maximum ? to - step : to
}

// ---- built-in kinds

function ofType(type: Type, sampler: Sampler, depth: number): Value {
  sampler.left--
  if (type.special !== undefined) return specialValue(type)
  switch (type.kind) {
    case 'object': {
      const object: ValueObject = {}
      for (const [name, field] of type.fields) {
        if (field.default === undefined && !isWanted(name, field.required, sampler, depth)) continue
        const [choice] = field.go?.spec.enum ?? []
        object[name] = field.default ?? choice ?? ofType(field.type, sampler, depth + 1)
      }
      return object
    }
    case 'list':
      return type.element && sampler.optional && depth < MAX_DEPTH ? [ofType(type.element, sampler, depth + 1)] : []
    case 'map':
      return type.element && sampler.optional && depth < MAX_DEPTH
        ? { key: ofType(type.element, sampler, depth + 1) }
        : {}
    case 'string':
      return 'example'
    case 'bool':
      return false
    case 'bytes':
      return 'AA=='
    case 'any':
      return {}
    default:
      return 1
  }
}

function specialValue({ name }: Type): Value {
  if (name.endsWith('Quantity')) return '1'
  if (name.endsWith('MicroTime')) return '2025-01-01T00:00:00.000000Z'
  if (name.endsWith('Time')) return '2025-01-01T00:00:00Z'
  if (name.endsWith('Duration')) return '1h'
  return name.endsWith('IntOrString') ? 80 : {}
}
