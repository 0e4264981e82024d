// A first text for a new object: its type, its name, and the fields that the schema requires.
import type { KindSchema, Schema } from '../../api/openapi.js'
import { groupVersion, type Resource } from '../../api/resource.js'
import { encodeYaml, type Value } from '../../yaml/yaml-document.js'

const MAX_DEPTH = 6

export function skeletonOf(resource: Resource, namespace: string, schema: KindSchema | undefined): string {
  const object: Record<string, Value> = {
    apiVersion: groupVersion(resource),
    kind: resource.kind,
    metadata: {
      name: `my-${resource.singular || resource.kind.toLowerCase()}`,
      ...(namespace !== '' && { namespace }),
    },
  }
  if (schema !== undefined) {
    const root = schema.resolve(schema.root)
    const wanted = new Set([...(root.required ?? []), ...(root.properties?.['spec'] ? ['spec'] : [])])
    for (const name of wanted) {
      const member = root.properties?.[name]
      if (member !== undefined && !(name in object)) object[name] = sampleOf(schema.resolve(member), schema, 0)
    }
  }
  return encodeYaml(object)
}

function sampleOf(schema: Schema, kind: KindSchema, depth: number): Value {
  if (schema.default !== undefined && typeof schema.default !== 'object') return schema.default as Value
  if (schema.enum !== undefined && schema.enum.length > 0) return schema.enum[0] as Value
  switch (schema.type) {
    case 'string':
      return ''
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    case 'boolean':
      return false
    case 'array': {
      if (schema.items === undefined || (schema.minItems ?? 0) === 0 || depth >= MAX_DEPTH) return []
      return [sampleOf(kind.resolve(schema.items), kind, depth + 1)]
    }
    default: {
      const object: Record<string, Value> = {}
      if (depth >= MAX_DEPTH) return object
      for (const name of schema.required ?? []) {
        const member = schema.properties?.[name]
        if (member !== undefined) object[name] = sampleOf(kind.resolve(member), kind, depth + 1)
      }
      return object
    }
  }
}
