// What the palette finds: commands of the view, kinds, and objects whose names contain the text.
import { getJson, query } from '../api/client.js'
import { resources } from '../api/discovery.js'
import { collectionPath, groupVersion, type ObjectMeta, type Resource } from '../api/resource.js'
import { browseLink, objectLink } from '../links.js'
import { navigate } from '../router.js'
import { commands } from '../state/commands.js'
import { lastNamespace, namespaces, rememberNamespace } from '../state/namespace.js'
import { scoreOf } from './fuzzy.js'
import type { IconName } from './icon.js'

export interface FoundItem {
  readonly id: string
  readonly title: string
  readonly note: string
  readonly icon: IconName
  readonly keys?: string | undefined
  readonly disabled?: string | undefined
  readonly run: () => void
}

const MAX_ITEMS = 60
const MAX_OBJECTS = 20
const TYPING_MS = 120

/** Kinds whose objects are searched by name. More would be many requests for every word. */
const SEARCHED = new Set([
  'namespaces',
  'pods',
  'configmaps',
  'secrets',
  'services',
  'deployments',
  'customresourcedefinitions',
])
const MAX_SEARCHED = 24

export function findItems(show: (items: readonly FoundItem[]) => void): {
  find: (text: string) => void
  stop: () => void
} {
  let controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const names = new Map<string, Promise<readonly ObjectMeta[]>>()
  const stop = (): void => {
    controller.abort()
    clearTimeout(timer)
  }
  const find = (text: string): void => {
    stop()
    controller = new AbortController()
    const { signal } = controller
    const only = text.startsWith(':') ? 'kinds' : text.startsWith('>') ? 'actions' : 'all'
    const wanted = text.replace(/^[:>]/, '').trim()
    const found = [
      ...(only === 'kinds' ? [] : actionItems(wanted)),
      ...(only === 'actions' ? [] : kindItems(wanted)),
      ...(only === 'all' && wanted !== '' ? namespaceItems(wanted) : []),
    ]
    const ranked = rank(found)
    show(ranked)
    if (only !== 'all' || wanted.length < 2) return
    timer = setTimeout(() => {
      void findObjects(wanted, names, signal, more => {
        if (!signal.aborted) show([...ranked.slice(0, MAX_ITEMS - MAX_OBJECTS), ...more])
      })
    }, TYPING_MS)
  }
  return { find, stop }
}

interface Ranked extends FoundItem {
  readonly score: number
}

const rank = (items: readonly Ranked[]): readonly FoundItem[] =>
  items.toSorted((a, b) => b.score - a.score).slice(0, MAX_ITEMS)

function actionItems(text: string): Ranked[] {
  return commands()
    .filter(({ hidden = false }) => !hidden)
    .flatMap(({ id, title, group, keys, disabled, run }) => {
      const score = text === '' ? 1 : scoreOf(text, title)
      return score > 0
        ? [{ id: `action-${id}`, title, note: group, icon: 'spark', keys: keys?.[0], disabled, run, score }]
        : []
    })
}

function kindItems(text: string): Ranked[] {
  return resources.value
    .filter(({ verbs }) => verbs.includes('list'))
    .flatMap(resource => {
      const short = resource.shortNames.includes(text.toLowerCase()) ? 200 : 0
      const score = text === '' ? 0.5 : Math.max(short, scoreOf(text, resource.kind), scoreOf(text, resource.name))
      if (score <= 0) return []
      const parameters = resource.namespaced ? { namespace: lastNamespace.peek() } : {}
      const run = (): void => navigate(browseLink(resource, parameters))
      const note = groupVersion(resource)
      return [{ id: `kind-${note}-${resource.name}`, title: resource.kind, note, icon: 'columns', run, score }]
    })
}

function namespaceItems(text: string): Ranked[] {
  return namespaces.value.flatMap(name => {
    const score = scoreOf(text, name) * 0.6
    const run = (): void => rememberNamespace(name)
    return score > 0
      ? [{ id: `namespace-${name}`, title: name, note: 'work in this namespace', icon: 'tag', run, score }]
      : []
  })
}

async function findObjects(
  text: string,
  names: Map<string, Promise<readonly ObjectMeta[]>>,
  signal: AbortSignal,
  show: (items: readonly FoundItem[]) => void,
): Promise<void> {
  const custom = resources.value.filter(
    ({ group, verbs }) => group.includes('.') && !group.endsWith('.k8s.io') && verbs.includes('list'),
  )
  const usual = resources.value.filter(({ name, verbs }) => SEARCHED.has(name) && verbs.includes('list'))
  const found: Ranked[] = []
  await Promise.all(
    [...usual, ...custom].slice(0, MAX_SEARCHED).map(async resource => {
      const key = `${resource.group}/${resource.name}`
      const list = names.get(key) ?? listNames(resource)
      names.set(key, list)
      for (const { name, namespace } of await list) {
        const score = scoreOf(text, name)
        if (score <= 0) continue
        const note = `${resource.kind}${namespace === undefined ? '' : ` in ${namespace}`}`
        const run = (): void => navigate(objectLink(resource, namespace, name))
        found.push({ id: `object-${key}-${namespace ?? ''}-${name}`, title: name, note, icon: 'code', run, score })
      }
      if (!signal.aborted) show(found.toSorted((a, b) => b.score - a.score).slice(0, MAX_OBJECTS))
    }),
  )
}

async function listNames(resource: Resource): Promise<readonly ObjectMeta[]> {
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  try {
    const path = collectionPath(resource, '') + query({ limit: 500 })
    const { items } = await getJson<{ items: { metadata: ObjectMeta }[] }>(path, { accept, isSearch: true })
    return items.map(({ metadata }) => metadata)
  } catch {
    return []
  }
}
