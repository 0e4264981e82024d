// The groups and resources of the server, by aggregated discovery. They are read again when a definition changes, so that
// new kinds appear while one looks.
import { computed, signal } from '@preact/signals'
import { getJson, request } from './client.js'
import type { Resource } from './resource.js'
import { readLines } from './watch-stream.js'

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const POLL_MS = 30_000
/** A definition changes several times while it is established. */
const QUIET_MS = 150

interface GroupDiscovery {
  readonly metadata: { readonly name?: string }
  readonly versions?: readonly {
    readonly version: string
    readonly freshness?: string
    readonly resources?: readonly {
      readonly resource: string
      readonly responseKind?: { readonly kind?: string }
      readonly scope: 'Namespaced' | 'Cluster'
      readonly singularResource: string
      readonly verbs: readonly string[]
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
      readonly subresources?: readonly { readonly subresource: string }[]
    }[]
  }[]
}

export interface Group {
  readonly name: string
  readonly resources: readonly Resource[]
}

/** Undefined until discovery has been read once. */
export const groups = signal<readonly Group[] | undefined>(undefined)
export const discoveryError = signal<unknown>(undefined)

/** Each resource in the preferred version of those that serve it. */
export const resources = computed(() => (groups.value ?? []).flatMap(group => group.resources))

/** A resource by its place in paths; any version that serves it. */
export function findResource(group: string, version: string, name: string): Resource | undefined {
  const found = resources.value.find(each => each.group === group && each.name === name)
  if (found === undefined || found.version === version) return found
  return found.versions.includes(version) ? { ...found, version } : undefined
}

export const findKind = (group: string, kind: string): Resource | undefined =>
  resources.value.find(each => each.group === group && each.kind === kind)

export async function readDiscovery(): Promise<void> {
  try {
    const [core, named] = await Promise.all(
      ['/api', '/apis'].map(path => getJson<{ items: GroupDiscovery[] }>(path, { accept: AGGREGATED })),
    )
    const next = [...core!.items, ...named!.items].map(toGroup).filter(group => group.resources.length > 0)
    discoveryError.value = undefined
    // An unchanged answer must not draw everything again.
    if (JSON.stringify(next) !== JSON.stringify(groups.peek())) groups.value = next
  } catch (error) {
    discoveryError.value = error
  }
}

/** Reads discovery now, whenever a definition changes, and now and then, until the signal aborts. */
export function followDiscovery(until: AbortSignal): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const soon = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => void readDiscovery(), QUIET_MS)
  }
  void readDiscovery()
  void watchDefinitions(until, soon)
  const poll = setInterval(() => void (document.hidden || readDiscovery()), POLL_MS)
  until.addEventListener('abort', () => {
    clearInterval(poll)
    clearTimeout(timer)
  })
}

/** Where the user may not watch definitions, polling is all there is. */
async function watchDefinitions(until: AbortSignal, changed: () => void): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=true&resourceVersion='
  while (!until.aborted) {
    try {
      const list = await getJson<{ metadata: { resourceVersion: string } }>(
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=1',
        { accept: 'application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList', signal: until },
      )
      const accept = 'application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata'
      const response = await request(path + list.metadata.resourceVersion, { accept, signal: until })
      changed()
      await readLines(response, changed)
    } catch {
      if (until.aborted) return
    }
    await new Promise(resolve => setTimeout(resolve, 5000))
  }
}

function toGroup({ metadata, versions = [] }: GroupDiscovery): Group {
  const group = metadata.name ?? ''
  const found = new Map<string, Resource>()
  for (const { version, resources: each = [] } of versions) {
    for (const resource of each) {
      const earlier = found.get(resource.resource)
      found.set(
        resource.resource,
        earlier
          ? { ...earlier, versions: [...earlier.versions, version] }
          : {
              group,
              version,
              name: resource.resource,
              kind: resource.responseKind?.kind ?? resource.resource,
              singular: resource.singularResource,
              shortNames: resource.shortNames ?? [],
              categories: resource.categories ?? [],
              namespaced: resource.scope === 'Namespaced',
              verbs: resource.verbs,
              subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
              versions: [version],
            },
      )
    }
  }
  // Reviews and the like can only be created: there is nothing to look at.
  const listed = [...found.values()].filter(({ verbs }) => verbs.includes('list') || verbs.includes('get'))
  return { name: group, resources: listed.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)) }
}
