// Finds the schema of a path, and names types as `kubectl explain` does.
import type { KindSchema, Schema } from '../api/openapi.js'
import type { Path } from './yaml-document.js'

/** Undefined where the schema says nothing. */
export function schemaAt({ root, resolve }: KindSchema, path: Path): Schema | undefined {
  let schema: Schema | undefined = resolve(root)
  for (const part of path) {
    if (schema === undefined) return undefined
    const next: Schema | undefined = typeof part === 'number' ? schema.items : memberOf(schema, part)
    schema = next && resolve(next)
  }
  return schema
}

export function memberOf(schema: Schema, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

export function typeName(schema: Schema, resolve: KindSchema['resolve']): string {
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') return 'integer or string'
  if (schema.type === 'array') return `[]${schema.items ? typeName(resolve(schema.items), resolve) : 'any'}`
  if (typeof schema.additionalProperties === 'object') {
    return `map[string]${typeName(resolve(schema.additionalProperties), resolve)}`
  }
  if (schema.type !== undefined) return schema.format ? `${schema.type} (${schema.format})` : schema.type
  return schema.oneOf === undefined ? 'any' : schema.oneOf.map(each => each.type ?? 'any').join(' or ')
}

/** The limits of a value in words, for hovers and forms. */
export function constraints(schema: Schema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, default: fallback } = schema
  const words: string[] = []
  if (schema.enum !== undefined) words.push(`one of ${schema.enum.map(each => JSON.stringify(each)).join(', ')}`)
  if (minimum !== undefined) words.push(`at least ${minimum}`)
  if (maximum !== undefined) words.push(`at most ${maximum}`)
  if (minLength !== undefined) words.push(`${minLength} or more characters`)
  if (maxLength !== undefined) words.push(`at most ${maxLength} characters`)
  if (minItems !== undefined) words.push(`${minItems} or more items`)
  if (maxItems !== undefined) words.push(`at most ${maxItems} items`)
  if (pattern !== undefined) words.push(`matches ${pattern}`)
  if (fallback !== undefined && JSON.stringify(fallback) !== '{}') words.push(`default ${JSON.stringify(fallback)}`)
  for (const { rule, message } of schema['x-kubernetes-validations'] ?? []) words.push(message ?? `rule ${rule}`)
  return words
}
