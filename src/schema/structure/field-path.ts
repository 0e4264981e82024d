// Paths that lead from one schema to another below it: `.spec.ports`, `.labels['a.b']`. They name properties of objects
// and keys of maps, never items of lists.

import { failed, parsed, type Result } from '../../base/result.js'
import { childPath, keyPath } from '../../meta/errors/field-errors.js'
import { parseSchema, type Schema } from './structural.js'

export interface FieldPathEnd {
  readonly schema: Schema
  /** The path as errors name it, below where it starts: `spec.ports`, `labels[a.b]`. */
  readonly field: string
}

export interface FieldPathOptions {
  /** Whether steps may be written in brackets: `['a.b']`. */
  readonly brackets: boolean
}

export function followFieldPath(path: string, root: Schema, { brackets }: FieldPathOptions): Result<FieldPathEnd> {
  const tokens = path.match(/[.[\]]|'(?:[^'\\]|\\.)*'|[^.[\]]+/g) ?? []
  let end: FieldPathEnd = { schema: root, field: '' }
  for (let i = 0; i < tokens.length; i += 2) {
    let name = tokens[i + 1]
    if (tokens[i] === '[') {
      if (!brackets) return failed('array notation is not allowed')
      if (name === undefined) return failed('unexpected end of JSON path')
      const unquoted = unquote(name)
      if (!unquoted.ok) return unquoted
      name = unquoted.value
      if (tokens[i + 2] === undefined) return failed('unexpected end of JSON path')
      if (tokens[i + 2] !== ']') return failed(`expected ] but got ${tokens[i + 2]}`)
      i++
    } else if (tokens[i] !== '.') {
      return failed(`expected [ or . but got: ${tokens[i]}`)
    }
    if (name === undefined) return failed('unexpected end of JSON path')
    const next = step(end, name)
    if (next === undefined) return failed('does not refer to a valid field')
    end = next
  }
  return parsed(end)
}

function step({ schema, field }: FieldPathEnd, name: string): FieldPathEnd | undefined {
  const { properties, additionalProperties } = schema
  if (properties.size > 0) {
    const property = properties.get(name)
    return property && { schema: property, field: childPath(field, name) }
  }
  if (additionalProperties === undefined) return undefined
  const values = typeof additionalProperties === 'object' ? additionalProperties : ANYTHING
  return { schema: values, field: keyPath(field, name) }
}

/** The values of a map without a schema. */
const ANYTHING = parseSchema({})

function unquote(token: string): Result<string> {
  if (!/^'.*'$/s.test(token) || token.length < 2) return failed(`expected single quoted string but got ${token}`)
  const inner = token.slice(1, -1)
  const escape = inner.match(/\\[^'\\]/s)?.[0]
  if (escape !== undefined) return failed(`invalid string literal: invalid escape sequence: ${escape}`)
  return parsed(inner.replaceAll(/\\(['\\])/g, '$1'))
}
