// Shared by the tests of discovery: kinds, and a client with different Accept headers.
import { builtinKinds } from '../builtin/builtin-kinds.js'
import { widgetKind } from '../kinds/fake-kinds.suite.js'
import type { Kind, KindVersion, Subresources } from '../kinds/kind.js'
import { createRegistry, type Registry } from '../kinds/registry.js'
import type { Encoding } from '../response/output-format.js'
import { builtinTypes } from '../types/type-table.js'
import { createDiscovery, type Discovery, type Offer, type PageResponse, type Requested } from './discovery.js'
import type { ExtraResources } from './documents/api-groups.js'

export interface Custom {
  readonly kind?: string
  readonly scope?: 'Cluster' | 'Namespaced'
  /** A minus sign marks a version that is not served. */
  readonly versions?: readonly string[]
  readonly storage?: string
  readonly subresources?: readonly (keyof Subresources)[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** A kind like those of definitions. */
export function customKind(group: string, custom: Custom = {}): Kind {
  const { kind = 'Widget', versions = ['v1'], storage = 'v1', scope = 'Namespaced', subresources = [] } = custom
  const base = widgetKind()
  const plural = `${kind.toLowerCase()}s`
  const parts = Object.fromEntries(subresources.map(name => [name, {}])) as Subresources
  return {
    ...base,
    group,
    names: {
      plural,
      singular: kind.toLowerCase(),
      kind,
      listKind: `${kind}List`,
      shortNames: custom.shortNames ?? [],
      categories: custom.categories ?? [],
    },
    namespaced: scope === 'Namespaced',
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    storageVersion: storage,
    storedAs: `${group}/${storage}`,
    versions: versions.map(name => versionOf(name, parts)),
  }
}

const versionOf = (name: string, subresources: Subresources): KindVersion => ({
  ...widgetKind().versions[0]!,
  name: name.replace('-', ''),
  served: !name.startsWith('-'),
  subresources,
})

/** The built-in resources that are not stored. */
export const VIRTUAL: ExtraResources = Object.fromEntries(
  ['v1', 'authentication.k8s.io/v1', 'authorization.k8s.io/v1'].map(apiVersion => [
    apiVersion,
    builtinTypes()
      .resources(apiVersion)
      .filter(({ verbs }) => !verbs.includes('list')),
  ]),
)

export interface Server {
  readonly registry: Registry
  readonly discovery: Discovery
}

export function serverOf(kinds: readonly Kind[] = [], extras: ExtraResources = {}): Server {
  const registry = createRegistry()
  for (const kind of kinds) registry.put(kind)
  return {
    registry,
    discovery: createDiscovery({ registry, extras, serverAddress: () => '127.0.0.1:6443', otherPaths: ['/livez'] }),
  }
}

export const builtinServer = (...more: Kind[]): Server => serverOf([...builtinKinds(builtinTypes()), ...more], VIRTUAL)

/** An accepted type; the preferred one is first. */
export interface Accepted {
  readonly encoding: Encoding
  readonly as?: Requested
  readonly pretty?: boolean
}

export const JSON_ONLY: readonly Accepted[] = [{ encoding: 'json' }]
export const AS_TABLE: Accepted = { encoding: 'json', as: { kind: 'Table', group: 'meta.k8s.io', version: 'v1' } }

export const aggregatedIn = (version: string, encoding: Encoding = 'json'): Accepted => ({
  encoding,
  as: { kind: 'APIGroupDiscoveryList', group: 'apidiscovery.k8s.io', version },
})

export interface DiscoveryRequest {
  readonly method?: string
  readonly accepts?: readonly Accepted[]
  readonly ifNoneMatch?: string
  readonly checkRoute?: (encodings: readonly Encoding[]) => void
}

export function fetchPage(
  { discovery }: Server,
  path: string,
  options: DiscoveryRequest = {},
): PageResponse | undefined {
  const { method = 'GET', accepts = JSON_ONLY, ifNoneMatch, checkRoute = () => {} } = options
  const findFormat = (offer: Offer) => {
    const found = accepts.find(({ encoding, as }) => offer.encodings.includes(encoding) && offer.allows(encoding, as))
    return found && { pretty: false, ...found, as: found.as as undefined }
  }
  return discovery.find(path)?.({ method, path, ifNoneMatch, findFormat, checkRoute })
}

export const read = (server: Server, path: string, options?: DiscoveryRequest): unknown =>
  JSON.parse(fetchPage(server, path, options)!.body.toString())
