// Shared by the tests of OpenAPI: kinds as definitions create them, and a client for the endpoints.
import { builtinKinds } from '../builtin/builtin-kinds.js'
import type { Kind, ScaleStrategy, SubresourceStrategy } from '../kinds/kind.js'
import { createRegistry, type Registry } from '../kinds/registry.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import { type StructuralSource, structuralType } from '../schema/structural.js'
import type { Type } from '../types/type.js'
import { builtinTypes } from '../types/type-table.js'
import { createOpenApi, type OpenApi, type OpenApiRequest, type OpenApiResponse } from './openapi.js'
import type { ExtraResources } from './operations/published-versions.js'

const types = builtinTypes()

/** The parts of a CustomResourceDefinition that matter here. */
export interface Definition {
  readonly group: string
  readonly scope: string
  readonly names: { readonly kind: string; readonly plural: string; readonly listKind?: string }
  readonly versions: readonly {
    readonly name: string
    readonly served: boolean
    readonly schema: { readonly openAPIV3Schema: ValueObject }
    readonly subresources?: { readonly status?: object; readonly scale?: object }
    readonly selectableFields?: readonly { readonly jsonPath: string }[]
  }[]
}

export function customKind({ group, scope, names, versions }: Definition): Kind {
  const base = builtinKinds(builtinTypes()).find(kind => kind.names.plural === 'configmaps')!
  const template = base.versions[0]!
  return {
    ...base,
    origin: 'custom',
    group,
    names: { ...base.names, ...names, listKind: names.listKind ?? `${names.kind}List` },
    namespaced: scope === 'Namespaced',
    traits: { ...base.traits, lenientRouting: true },
    versions: versions.map(({ name, served, schema, subresources = {}, selectableFields = [] }) => ({
      ...template,
      name,
      served,
      subresources: {
        status: subresources.status && ({} as SubresourceStrategy),
        scale: subresources.scale && ({} as ScaleStrategy),
      },
      type: publishedType({ written: () => schema.openAPIV3Schema }),
      selectableFields: selectableFields.map(({ jsonPath }) => jsonPath),
    })),
  }
}

/** A type of which only the written schema counts. */
export const publishedType = (written: Pick<StructuralSource, 'written' | 'writtenBytes'>): Type =>
  structuralType(types, { ...written, schema: () => undefined })

export const widget = (schema: ValueObject, more: Partial<Definition> = {}): Kind =>
  customKind({
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [{ name: 'v1', served: true, schema: { openAPIV3Schema: schema } }],
    ...more,
  })

export interface Server {
  readonly registry: Registry
  readonly openapi: OpenApi
}

export function serverOf(kinds: readonly Kind[], extras?: ExtraResources): Server {
  const registry = createRegistry()
  for (const kind of kinds) registry.put(kind)
  const openapi = createOpenApi({
    registry,
    types: builtinTypes,
    extras,
    serverVersion: 'v1.36.4',
    build: '1.0.0',
    now: () => 0,
  })
  return { registry, openapi }
}

export const builtinServer = (...more: Kind[]): Server => serverOf([...builtinKinds(builtinTypes()), ...more])

export interface RequestOptions extends Partial<Pick<OpenApiRequest, 'method' | 'headers' | 'hash'>> {
  readonly accept?: string
  readonly ifNoneMatch?: string | undefined
}

export function fetchDocument(
  { openapi }: Server,
  path: string,
  options: RequestOptions = {},
): OpenApiResponse | undefined {
  const { accept, ifNoneMatch, hash, method = 'GET', headers = {} } = options
  // In these tests, types come in the order of preference.
  const accepts = (accept || '*/*').split(',').map(range => {
    const [type = '', subtype = ''] = range.split(';')[0]!.trim().split('/')
    return { type, subtype, isLess: range.includes('q=') }
  })
  return openapi.find(path)?.respond({
    accepts: accepts.toSorted((a, b) => Number(a.isLess) - Number(b.isLess)),
    method,
    headers: { 'if-none-match': ifNoneMatch, ...headers },
    hash,
  })
}

export const read = (server: Server, path: string): ValueObject =>
  JSON.parse(fetchDocument(server, path)!.body.toString()) as ValueObject

/** The value at a JSON pointer in a document. */
export const at = (value: Value | undefined, pointer: string): Value | undefined =>
  pointer
    .split('/')
    .slice(1)
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((part: unknown, token) => (part as Record<string, unknown> | undefined)?.[token], value) as
    | Value
    | undefined
