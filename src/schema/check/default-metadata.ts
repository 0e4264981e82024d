// The metadata of embedded resources in defaults are decoded when the definition is written, so that a default has no
// metadata fields that objects could not have.
import { isObject, type Value } from '../../meta/values/value.js'
import { isTypeOrMetadata, STEP, shapeValue } from '../shape/shape.js'
import { parseUnlessTooDeep, type Schema } from '../structure/structural.js'

/** Drops unknown fields in place; what cannot be metadata at all is refused later. */
export function readDefaultMetadata(written: Value): void {
  // Most schemas embed no resources, which is found faster than a schema is parsed.
  const schema = embedsResources(written) ? parseUnlessTooDeep(written) : undefined
  if (schema) visit(schema, true)
}

function visit(schema: Schema, isRoot: boolean): void {
  const { items, additionalProperties, properties, extensions } = schema
  if (schema.default !== undefined) {
    shapeValue(schema.default, schema, { steps: STEP.coerce, isResource: isRoot || extensions.embeddedResource })
  }
  if (items !== undefined) visit(items, false)
  if (typeof additionalProperties === 'object') visit(additionalProperties, false)
  for (const [name, property] of properties) {
    if (!(extensions.embeddedResource && isTypeOrMetadata(name))) visit(property, false)
  }
}

function embedsResources(written: Value): boolean {
  const open: Value[] = [written]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) for (const item of value) open.push(item)
    else if (isObject(value)) {
      if (value['x-kubernetes-embedded-resource'] === true) return true
      for (const key of Object.keys(value)) open.push(value[key]!)
    }
  }
  return false
}
