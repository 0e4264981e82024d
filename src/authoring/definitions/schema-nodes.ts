// The nodes of the schemas of a definition, each with its place in the definition and in its objects.

import { type VersionSpec, versionsOf } from '../../crd/definition.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { parseSchema, type Schema } from '../../schema/structural.js'

export interface SchemaNode {
  readonly schema: Schema
  /** In the definition: `spec.versions[0].schema.openAPIV3Schema.properties.spec`. */
  readonly at: string
  /** In an object: `spec.list[].name`; empty for the root. */
  readonly field: string
  /** The name of the property; empty for the root, items and members of maps. */
  readonly name: string
  readonly parent: SchemaNode | undefined
  /** The object around it requires it. */
  readonly isRequired: boolean
}

export interface VersionSchema {
  readonly version: VersionSpec
  readonly root: SchemaNode
}

/** The schemas of all versions that have one. */
export function schemasOf(definition: ApiObject): readonly VersionSchema[] {
  return versionsOf(definition).flatMap((version, i): readonly VersionSchema[] => {
    const written = version.schema?.openAPIV3Schema
    if (written === undefined) return []
    const at = `spec.versions[${i}].schema.openAPIV3Schema`
    return [{ version, root: rootNode(parseSchema(written), at) }]
  })
}

export const rootNode = (schema: Schema, at: string): SchemaNode => ({
  schema,
  at,
  field: '',
  name: '',
  parent: undefined,
  isRequired: true,
})

/** The node itself and all below it, in their order. */
export function* nodesBelow(node: SchemaNode): Generator<SchemaNode> {
  yield node
  for (const child of childrenOf(node)) yield* nodesBelow(child)
}

export function childrenOf(node: SchemaNode): readonly SchemaNode[] {
  const { schema, at, field } = node
  const children: SchemaNode[] = []
  const { required } = schema.checks
  for (const [name, property] of schema.properties) {
    children.push({
      schema: property,
      at: `${at}.properties.${name}`,
      field: field === '' ? name : `${field}.${name}`,
      name,
      parent: node,
      isRequired: required.includes(name),
    })
  }
  const unnamed = { name: '', parent: node, isRequired: true }
  if (schema.items) children.push({ ...unnamed, schema: schema.items, at: `${at}.items`, field: `${field}[]` })
  if (typeof schema.additionalProperties === 'object') {
    const members = { schema: schema.additionalProperties, at: `${at}.additionalProperties`, field: `${field}[*]` }
    children.push({ ...unnamed, ...members })
  }
  return children
}

/** The node of a field, as messages name it (`spec.list[0].name`, `spec.map.key`) or as a path of JSONPath. */
export function nodeAt(root: SchemaNode, path: string): SchemaNode | undefined {
  let node: SchemaNode | undefined = root
  for (const [, name, inBrackets] of path.matchAll(/([^.[\]]+)|\[((?:[^\][]|\[[^\]]*\])*)\]/g)) {
    if (node === undefined) return undefined
    const children = childrenOf(node)
    const key = name ?? inBrackets!.replaceAll(/^['"]|['"]$/g, '')
    const own = children.find(child => child.name === key && child.name !== '')
    node = own ?? children.find(child => child.name === '')
  }
  return node
}
