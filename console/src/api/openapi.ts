// The schema of a kind, from the server's OpenAPI v3. One document holds all kinds of a group version.
import { getJson } from './client.js'

export interface Schema {
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly nullable?: boolean
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[]
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
}

export interface KindSchema {
  readonly root: Schema
  /** Follows references. The description beside a reference wins over that of its target. */
  readonly resolve: (schema: Schema) => Schema
}

interface OpenApiIndex {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>
}

interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

const documents = new Map<string, Promise<OpenApiDocument>>()

/** Undefined if the server publishes no schema of the kind. */
export async function readSchema(group: string, version: string, kind: string): Promise<KindSchema | undefined> {
  const { paths } = await getJson<OpenApiIndex>('/openapi/v3')
  const key = group === '' ? `api/${version}` : `apis/${group}/${version}`
  const found = paths[key]
  if (found === undefined) return undefined
  // The address has a hash of the document, so that a changed definition has another one.
  const document = documents.get(found.serverRelativeURL) ?? getJson<OpenApiDocument>(found.serverRelativeURL)
  documents.set(found.serverRelativeURL, document)
  document.catch(() => documents.delete(found.serverRelativeURL))
  const { components } = await document
  return schemaOf(components?.schemas ?? {}, group, version, kind)
}

export function schemaOf(
  schemas: Readonly<Record<string, Schema>>,
  group: string,
  version: string,
  kind: string,
): KindSchema | undefined {
  const root = Object.values(schemas).find(schema =>
    schema['x-kubernetes-group-version-kind']?.some(
      each => each.group === group && each.version === version && each.kind === kind,
    ),
  )
  if (root === undefined) return undefined
  const resolve = (schema: Schema): Schema => {
    const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]!.$ref : undefined)
    if (reference === undefined) return schema
    const target = schemas[reference.slice(reference.lastIndexOf('/') + 1)]
    if (target === undefined) return schema
    const { $ref: _, allOf: __, ...beside } = schema
    return { ...resolve(target), ...beside }
  }
  return { root, resolve }
}
