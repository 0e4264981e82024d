// Keeps the registry in step with the definitions in the store: each definition gets the status that it should have,
// and the kind that it defines is served. Whoever writes a definition waits for that, so that what was defined is there
// when the answer comes; what other processes write is learnt from the watch.

import { type Converters, conversionOf } from '../../crd/custom-conversion.js'
import { customKind, type RuleCompiler } from '../../crd/custom-kind.js'
import { type DefinitionNames, statusOf } from '../../crd/definition.js'
import { resourceDefinedBy } from '../../crd/definition-kind.js'
import { withRightStatus } from '../../crd/definition-status.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { ObjectEvent } from '../../objects/object-store.js'
import type { Watch } from '../../storage/store.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import { createWorkQueue } from '../common/work-queue.js'
import { createCleanup } from './finalizer.js'
import { readDefinition } from './stored-definition.js'

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
  context: ApiContext,
  registry: Registry,
  definitions: Kind,
  converters: Converters & { readonly ruleCompiler?: RuleCompiler },
): Promise<Definitions> {
  const objects = systemObjects(context, 'kube-apiserver')
  const stored = context.objectStore(definitions)
  const { cache } = stored
  const { types } = definitions.versions[0]!.type
  const known = new Map<string, Known>()
  /** By group, the names that each definition has got, or will have when its status is stored. */
  const taken = new Map<string, Map<string, DefinitionNames>>()
  const builtin = new Set([...registry.all()].map(({ group, names }) => `${group}/${names.plural}`))
  const queue = createWorkQueue(settle)
  const cleanup = createCleanup(context, definitions, name => known.get(name)?.kind)
  let watch: Watch | undefined
  let stopped = false
  /** Each definition is settled once at a time: the last one that was asked for, by name. */
  const turns = new Map<string, Promise<void>>()

  async function start(): Promise<void> {
    const revision = await load()
    if (stopped) return
    watch = cache.watch(definitions.keyPrefix, revision, {
      event({ key, entry }: ObjectEvent) {
        const name = key.slice(definitions.keyPrefix.length)
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
      const page = await cache.range(definitions.keyPrefix, { limit: PAGE, startAfter })
      for (const entry of page.entries) {
        const definition = readDefinition(entry)
        const { name = '' } = metaOf(definition)
        names.add(name)
        install(name, definition)
        if (!isSettled(name, definition)) queue.add(name)
        cleanup.consider(definition)
      }
      startAfter = page.entries.at(-1)?.key
      if (page.remaining > 0) continue
      for (const name of known.keys()) if (!names.has(name)) queue.add(name)
      return page.revision
    }
  }

  function settle(name: string): Promise<void> {
    const before = turns.get(name)
    const done = before ? before.then(() => settleNow(name)) : settleNow(name)
    const over = done
      .catch(() => {})
      .then(() => {
        if (turns.get(name) === over) turns.delete(name)
      })
    turns.set(name, over)
    return done
  }

  async function settleNow(name: string): Promise<void> {
    const entry = await stored.get('', name)
    const before = known.get(name)?.definition
    // What an event tells of is mostly our own write.
    if (entry && before && revisionOf(before) === entry.revision && isSettled(name, before)) return
    // A new one has no status yet; others mostly have the right one.
    if (!entry || !before || !isSettled(name, readDefinition(entry))) await giveStatus(name)
    const found = await stored.get('', name)
    if (!found) return uninstall(name)
    const settled = readDefinition(found)
    install(name, settled)
    cleanup.consider(settled)
    // Names that it let go of may be what others wait for.
    if (before && !hasSameNames(before, settled)) reconsider(name)
  }

  /** What names it gets is decided at once, so that whoever comes next knows of it while this is being written. */
  async function giveStatus(name: string): Promise<void> {
    try {
      await objects.change(definitions, '', name, old => decide(name, old), 'status')
    } catch (error) {
      const before = known.get(name)
      if (before) take(name, namesOf(before.definition))
      else giveBack(name)
      // Others may have been refused what this one has not got after all.
      reconsider(name)
      throw error
    }
  }

  function decide(name: string, definition: ApiObject): ApiObject | undefined {
    const settled = withRightStatus(definition, takenIn(name), context.now())
    take(name, namesOf(settled))
    return settled === definition ? undefined : settled
  }

  const isSettled = (name: string, definition: ApiObject): boolean =>
    withRightStatus(definition, takenIn(name), context.now()) === definition

  const namesOf = (definition: ApiObject): DefinitionNames => statusOf(definition).acceptedNames

  const takenIn = (name: string): DefinitionNames[] => [...(taken.get(groupIn(name))?.values() ?? [])]

  function take(name: string, names: DefinitionNames): void {
    const ofGroup = taken.get(groupIn(name))
    if (ofGroup) ofGroup.set(name, names)
    else taken.set(groupIn(name), new Map([[name, names]]))
  }

  function giveBack(name: string): void {
    const ofGroup = taken.get(groupIn(name))
    if (ofGroup?.delete(name) && ofGroup.size === 0) taken.delete(groupIn(name))
  }

  function install(name: string, definition: ApiObject): void {
    const old = known.get(name)
    const kind = kindFor(definition, old)
    known.set(name, { definition, kind })
    take(name, namesOf(definition))
    if (kind === old?.kind) return
    const { group, plural } = resourceDefinedBy(definition)
    if (kind) registry.put(kind)
    else registry.remove(group, plural)
    // Who watches the objects as they were finds out what they are now.
    if (old?.kind && old.kind.versions !== kind?.versions) context.retire(old.kind)
  }

  /** The same kind as long as nothing changes that concerns it. */
  function kindFor(definition: ApiObject, old: Known | undefined): Kind | undefined {
    const { group, plural } = resourceDefinedBy(definition)
    if (builtin.has(`${group}/${plural}`)) return undefined
    const defined = customKind(types, definition, conversionOf(definition, converters), converters.ruleCompiler)
    const since = old?.kind?.since ?? revisionOf(definition)
    const kind = defined && { ...defined, since }
    if (!kind || !old?.kind) return kind
    if (!isSameSpec(definition, old.definition) || !hasSameNames(definition, old.definition)) {
      return kind
    }
    return kind.verbs === old.kind.verbs ? old.kind : { ...old.kind, verbs: kind.verbs }
  }

  function uninstall(name: string): void {
    const kind = known.get(name)?.kind
    known.delete(name)
    giveBack(name)
    if (kind) {
      registry.remove(kind.group, kind.names.plural)
      context.retire(kind)
    }
    reconsider(name)
  }

  /** Others of the group may get their names now, those among them who are just being told that they do not. */
  function reconsider(except: string): void {
    for (const name of taken.get(groupIn(except))?.keys() ?? []) {
      const seen = known.get(name)
      if (name !== except && (turns.has(name) || (seen && isWaiting(seen.definition)))) queue.add(name)
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

/** A definition is called by its plural, which has no dot, and its group. */
const groupIn = (name: string): string => name.slice(name.indexOf('.') + 1)

const hasSameNames = (a: ApiObject, b: ApiObject): boolean =>
  equalValues(statusOf(a).acceptedNames as unknown as Value, statusOf(b).acceptedNames as unknown as Value)

const isWaiting = (definition: ApiObject): boolean =>
  (statusOf(definition).conditions ?? []).some(({ type, status }) => type === 'NamesAccepted' && status !== 'True')
