// `binnacle crd types --lang=json-schema`: a JSON Schema for each version, for editors of YAML.

import { specOf, type VersionSpec, versionsOf } from '../crd/definition.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/values/value.js'

export interface SchemaFile {
  /** `widget-example.com-v1.json`. */
  readonly name: string
  readonly schema: ValueObject
  /** What a YAML file begins with, so that editors find the schema. */
  readonly modeline: string
}

export function jsonSchemasOf(definition: ApiObject): readonly SchemaFile[] {
  const { group, names } = specOf(definition)
  return versionsOf(definition).flatMap((version): readonly SchemaFile[] => {
    const written = version.schema?.openAPIV3Schema
    if (written === undefined) return []
    const name = `${names.kind.toLowerCase()}-${group}-${version.name}.json`
    return [
      {
        name,
        schema: rootSchema(written, group, version, names.kind),
        modeline: `# yaml-language-server: $schema=${name}`,
      },
    ]
  })
}

function rootSchema(written: ValueObject, group: string, { name }: VersionSpec, kind: string): ValueObject {
  const converted = convert(written)
  const properties = isObject(converted['properties']) ? converted['properties'] : {}
  const required = Array.isArray(converted['required']) ? converted['required'] : []
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `${kind} ${group}/${name}`,
    ...converted,
    properties: {
      ...properties,
      apiVersion: { type: 'string', const: `${group}/${name}` },
      kind: { type: 'string', const: kind },
      metadata: METADATA,
    },
    required: [...new Set<Value>(['apiVersion', 'kind', 'metadata', ...required])],
  }
}

const TEXTS: ValueObject = { type: 'object', additionalProperties: { type: 'string' } }
const METADATA: ValueObject = {
  type: 'object',
  properties: { name: { type: 'string' }, namespace: { type: 'string' }, labels: TEXTS, annotations: TEXTS },
}

const SCHEMAS = new Set(['items', 'not'])
const SCHEMA_LISTS = new Set(['allOf', 'anyOf', 'oneOf'])

/** OpenAPI's dialect as draft 7: nullable, exclusive bounds, and unknown fields, which the server drops. */
function convert(schema: ValueObject, isPart = false): ValueObject {
  const result: ValueObject = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword.startsWith('x-kubernetes-') || keyword === 'nullable' || keyword.startsWith('exclusive')) continue
    if (SCHEMAS.has(keyword) && isObject(value)) result[keyword] = convert(value, keyword === 'not')
    else if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) {
      result[keyword] = value.map(each => (isObject(each) ? convert(each, true) : each))
    } else if (keyword === 'properties' && isObject(value)) {
      result[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, isObject(each) ? convert(each, isPart) : each]),
      )
    } else if (keyword === 'additionalProperties' && isObject(value)) result[keyword] = convert(value)
    else result[keyword] = value
  }
  for (const bound of ['maximum', 'minimum']) {
    const exclusive = `exclusive${bound.charAt(0).toUpperCase()}${bound.slice(1)}`
    if (schema[exclusive] !== true || schema[bound] === undefined) continue
    result[exclusive] = schema[bound]
    delete result[bound]
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    delete result['anyOf']
    result['type'] = ['integer', 'string']
  }
  if (schema['nullable'] === true && typeof result['type'] === 'string') {
    result['type'] = [result['type'], 'null']
    if (Array.isArray(result['enum'])) result['enum'] = [...result['enum'], null]
  }
  const dropsUnknown =
    !isPart &&
    isObject(getOwn(schema, 'properties')) &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true &&
    schema['x-kubernetes-embedded-resource'] !== true &&
    schema['additionalProperties'] === undefined
  if (dropsUnknown) result['additionalProperties'] = false
  return result
}
