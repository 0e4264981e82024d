// Keeps the registry in step with the definitions in the store: each definition gets the status that it should have,
// and the kind that it defines is served. Whoever writes a definition waits for that, so that what was defined is there
// when the answer comes; what other processes write is learnt from the watch.
import { type Converters, conversionOf } from '../crd/custom-conversion.js'
import { customKind } from '../crd/custom-kind.js'
import { type DefinitionNames, specOf, statusOf } from '../crd/definition.js'
import { resourceDefinedBy } from '../crd/definition-kind.js'
import { withRightStatus } from '../crd/definition-status.js'
import type { ApiObject, Kind } from '../kinds/kind.js'
import type { Registry } from '../kinds/registry.js'
import { metaOf } from '../meta/object-meta.js'
import { equalValues, type Value } from '../meta/value.js'
import type { KindEvent } from '../resources/kind-store.js'
import type { ResourceContext } from '../resources/resource-context.js'
import type { Watch } from '../storage/store.js'
import { createCleanup } from './crd-cleanup.js'
import { readDefinition } from './stored-definition.js'
import { systemObjects } from './system-objects.js'
import { createWorkQueue } from './work-queue.js'

export interface Definitions {
  /** Settles when the definition of that name, as it is stored now, is in force. */
  settle(name: string): Promise<void>
  /** Settles when there is nothing to do at the moment. */
  idle(): Promise<void>
  stop(): void
}

const LOOK_AGAIN_MS = 250
const PAGE = 500

/** A definition, and what is served because of it. */
interface Known {
  readonly definition: ApiObject
  readonly kind: Kind | undefined
}

export async function startDefinitions(
  context: ResourceContext,
  registry: Registry,
  definitions: Kind,
  converters: Converters,
): Promise<Definitions> {
  const objects = systemObjects(context, 'kube-apiserver')
  const stored = context.storeOf(definitions)
  const { cache } = stored
  const known = new Map<string, Known>()
  /** The names of the known ones, by group. */
  const groups = new Map<string, Set<string>>()
  const builtin = new Set([...registry.all()].map(({ group, names }) => `${group}/${names.plural}`))
  const queue = createWorkQueue(settle)
  const cleanup = createCleanup(context, definitions, name => known.get(name)?.kind)
  let watch: Watch | undefined
  let stopped = false
  /** One at a time: which names are free depends on who came before. */
  let last: Promise<void> = Promise.resolve()

  async function start(): Promise<void> {
    const revision = await load()
    if (stopped) return
    watch = cache.watch(definitions.folder, revision, {
      event({ key, entry }: KindEvent) {
        const name = key.slice(definitions.folder.length)
        const seen = known.get(name)
        if (!entry || !seen || revisionOf(seen.definition) < entry.revision) queue.add(name)
        return true
      },
      end: () => void (stopped || setTimeout(() => void start().catch(() => {}), LOOK_AGAIN_MS).unref()),
    })
  }

  /** Serves what is established already; the rest is decided on in turn. */
  async function load(): Promise<number> {
    const names = new Set<string>()
    let startAfter: string | undefined
    for (;;) {
      const page = await cache.range(definitions.folder, { limit: PAGE, startAfter })
      for (const entry of page.entries) {
        const definition = readDefinition(entry)
        const { name = '' } = metaOf(definition)
        names.add(name)
        install(name, definition)
        if (!isSettled(definition)) queue.add(name)
        cleanup.consider(definition)
      }
      startAfter = page.entries.at(-1)?.key
      if (page.remaining > 0) continue
      for (const name of known.keys()) if (!names.has(name)) queue.add(name)
      return page.revision
    }
  }

  function settle(name: string): Promise<void> {
    const done = last.then(() => settleNow(name))
    last = done.catch(() => {})
    return done
  }

  async function settleNow(name: string): Promise<void> {
    const entry = await stored.get('', name)
    const before = known.get(name)?.definition
    // What an event tells of is mostly our own write.
    if (entry && before && revisionOf(before) === entry.revision && isSettled(before)) return
    // A new one has no status yet; others mostly have the right one.
    if (!entry || !before || !isSettled(readDefinition(entry))) {
      await objects.change(
        definitions,
        '',
        name,
        old => {
          const settled = withRightStatus(old, takenIn(old), context.now())
          return settled === old ? undefined : settled
        },
        'status',
      )
    }
    const found = await stored.get('', name)
    if (!found) return uninstall(name)
    const settled = readDefinition(found)
    install(name, settled)
    cleanup.consider(settled)
    // Names that it let go of may be what others wait for.
    const isSame = before && equalValues(namesOf(before), namesOf(settled))
    if (before && !isSame) reconsider(settled, name)
  }

  const isSettled = (definition: ApiObject): boolean =>
    withRightStatus(definition, takenIn(definition), context.now()) === definition

  const namesOf = (definition: ApiObject): Value => statusOf(definition).acceptedNames as unknown as Value

  function takenIn(definition: ApiObject): DefinitionNames[] {
    const names = groups.get(specOf(definition).group) ?? []
    return [...names].map(name => statusOf(known.get(name)!.definition).acceptedNames)
  }

  function remember(name: string, definition: ApiObject, kind: Kind | undefined): void {
    known.set(name, { definition, kind })
    const { group } = specOf(definition)
    const names = groups.get(group)
    if (names) names.add(name)
    else groups.set(group, new Set([name]))
  }

  function install(name: string, definition: ApiObject): void {
    const old = known.get(name)
    const kind = kindFor(definition, old)
    remember(name, definition, kind)
    if (kind === old?.kind) return
    const { group, plural } = resourceDefinedBy(definition)
    if (kind) registry.put(kind)
    else registry.remove(group, plural)
    // Who watches the objects as they were finds out what they are now.
    if (old?.kind && old.kind.versions !== kind?.versions) context.forget(old.kind)
  }

  /** The same kind as long as nothing changes that concerns it. */
  function kindFor(definition: ApiObject, old: Known | undefined): Kind | undefined {
    const { group, plural } = resourceDefinedBy(definition)
    if (builtin.has(`${group}/${plural}`)) return undefined
    const defined = customKind(definition, conversionOf(definition, converters))
    const since = old?.kind?.since ?? revisionOf(definition)
    const kind = defined && { ...defined, since }
    if (!kind || !old?.kind) return kind
    if (!isSameSpec(definition, old.definition) || !equalValues(namesOf(definition), namesOf(old.definition))) {
      return kind
    }
    return kind.verbs === old.kind.verbs ? old.kind : { ...old.kind, verbs: kind.verbs }
  }

  function uninstall(name: string): void {
    const old = known.get(name)
    if (!old) return
    known.delete(name)
    groups.get(specOf(old.definition).group)?.delete(name)
    if (old.kind) {
      registry.remove(old.kind.group, old.kind.names.plural)
      context.forget(old.kind)
    }
    reconsider(old.definition, name)
  }

  /** Others of the group may get their names now. */
  function reconsider(definition: ApiObject, except: string): void {
    const { group } = specOf(definition)
    for (const name of groups.get(group) ?? []) {
      if (name !== except && isWaiting(known.get(name)!.definition)) queue.add(name)
    }
  }

  await start()
  return {
    settle,
    async idle() {
      await queue.idle()
      await cleanup.idle()
    },
    stop() {
      stopped = true
      watch?.close()
      queue.stop()
      cleanup.stop()
    },
  }
}

const revisionOf = (definition: ApiObject): number => Number(metaOf(definition).resourceVersion)

/** Whoever changes the spec of a definition makes it of another generation. */
const isSameSpec = (a: ApiObject, b: ApiObject): boolean =>
  metaOf(a).uid === metaOf(b).uid && Number(metaOf(a).generation) === Number(metaOf(b).generation)

const isWaiting = (definition: ApiObject): boolean =>
  (statusOf(definition).conditions ?? []).some(({ type, status }) => type === 'NamesAccepted' && status !== 'True')
