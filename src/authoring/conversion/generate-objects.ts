// Objects that a schema accepts for the most part: with all fields, with few of them, and with some at random. The random
// numbers are the same in every run, so that a finding is found again.

import type { ApiObject } from '../../meta/object/api-object.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import type { Schema } from '../../schema/structural.js'

export function generateObjects(
  schema: Schema,
  type: { apiVersion: string; kind: string },
  count: number,
): readonly ApiObject[] {
  const random = createRandom(1)
  return Array.from({ length: count }, (_, i): ApiObject => {
    // The first has everything, the second only what is required.
    const chance = i === 0 ? 1 : i === 1 ? 0 : 0.5
    const value = generate(schema, { random, chance }, 0) as ValueObject
    return { ...value, ...type, metadata: { name: 'generated' } }
  })
}

interface Choice {
  readonly random: () => number
  /** How likely an optional field is. */
  readonly chance: number
}

const MAX_DEPTH = 12

function generate(schema: Schema, choice: Choice, depth: number): Value {
  const { type, checks, extensions, properties, items, additionalProperties } = schema
  const { random } = choice
  if (checks.enum.length > 0) return checks.enum[Math.floor(random() * checks.enum.length)]!
  if (extensions.intOrString) return random() < 0.5 ? 80 : 'http'
  switch (type) {
    case 'string':
      return textFor(checks.format, Math.max(checks.minLength ?? 1, 1), random)
    case 'integer':
    case 'number': {
      const from = checks.minimum ?? 1
      return Math.ceil(Math.min(from + Math.floor(random() * 100), checks.maximum ?? Infinity))
    }
    case 'boolean':
      return random() < 0.5
    case 'array':
      if (items === undefined || depth > MAX_DEPTH) return []
      return Array.from({ length: Math.max(checks.minItems ?? 1, 1) }, () => generate(items, choice, depth + 1))
    case 'object': {
      const object: ValueObject = {}
      for (const [name, property] of properties) {
        if (depth === 0 && ['apiVersion', 'kind', 'metadata'].includes(name)) continue
        const isWanted = checks.required.includes(name) || (random() < choice.chance && depth < MAX_DEPTH)
        if (isWanted) object[name] = generate(property, choice, depth + 1)
      }
      if (typeof additionalProperties === 'object') object['key'] = generate(additionalProperties, choice, depth + 1)
      return object
    }
    default:
      return 'anything'
  }
}

function textFor(format: string, length: number, random: () => number): string {
  if (format === 'date-time') return '2024-01-01T00:00:00Z'
  if (format === 'date') return '2024-01-01'
  if (format === 'ipv4') return '10.0.0.1'
  const letter = String.fromCharCode(97 + Math.floor(random() * 26))
  return letter.repeat(length)
}

/** A linear congruential generator: enough to vary objects, and the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
