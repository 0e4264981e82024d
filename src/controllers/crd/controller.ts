// Keeps the registry in step with the definitions in the store: each definition gets its status, and the kind that it
// defines is served. A request that writes a definition waits for that (wait-established.ts); definitions that other
// processes write come from the informer.

import { ownText } from '../../base/own-text.js'
import { type Converters, conversionOf } from '../../crd/custom-conversion.js'
import { customKind, type RuleCompiler } from '../../crd/custom-kind.js'
import { type DefinitionNames, statusOf } from '../../crd/definition.js'
import { resourceDefinedBy } from '../../crd/definition-kind.js'
import { createGroupNames, type GroupNames, NO_NAMES, withRightStatus } from '../../crd/definition-status.js'
import type { Kind, KindGuard } from '../../kinds/kind.js'
import { apiVersionOf } from '../../kinds/kind-names.js'
import type { Registry } from '../../kinds/registry.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import { startInformer, whenStarted } from '../../objects/informer.js'
import type { ObjectEvent } from '../../objects/object-store.js'
import type { Guard } from '../../storage/store.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue } from '../common/controller.js'
import { type Cleanup, createCleanup } from './finalizer.js'
import type { NamesLock } from './names-lock.js'
import { createSchemaMemory } from './schema-memory.js'
import { readDefinition, storedSchemasOf } from './stored-definition.js'

export interface Definitions {
  /** Resolves when the registry serves the definition of that name as it is stored now, or no longer serves it. */
  waitEstablished(name: string): Promise<void>
  /** Starts the controller that deletes the objects of definitions that are being deleted: see finalizer.ts. */
  startCleanup(): Controller
  /** False while there are definitions that cannot be read. */
  readonly isComplete: boolean
  /** Resolves when there is nothing to do. */
  idle(): Promise<void>
  stop(): void
}

/** A definition, and the kind that is served because of it. */
interface KnownDefinition {
  readonly definition: ApiObject
  readonly kind: Kind | undefined
  /** That of the kind. It moves on with the definition as long as the kind stays. */
  readonly guard: KindGuard
}

export interface DefinitionParts extends Converters {
  readonly ruleCompiler?: RuleCompiler
  /** Where other processes write definitions too. */
  readonly namesLock?: NamesLock | undefined
}

/**
 * A definition without its status is left to the process that serves the request that wrote it, for this long. Then that
 * process may be gone.
 */
const LEFT_TO_OTHERS_MS = 1000

export async function startDefinitions(
  context: ApiContext,
  registry: Registry,
  definitions: Kind,
  { namesLock, ...converters }: DefinitionParts,
  env: ControllerEnv,
): Promise<Definitions> {
  const objects = serverObjects(context)
  const stored = context.objectStore(definitions)
  const { types } = definitions.versions[0]!.type
  const known = new Map<string, KnownDefinition>()
  const schemas = createSchemaMemory()
  /** By group, the names that each definition has, or will have when its status is stored. */
  const taken = new Map<string, GroupNames>()
  const builtin = new Set([...registry.all()].map(({ group, names }) => `${group}/${names.plural}`))
  const builtinVersions = new Set(
    [...registry.all()].flatMap(kind => kind.versions.map(({ name }) => apiVersionOf(kind, name))),
  )
  const queue = createControllerQueue('crd_establishing', env, name => reconcile(name, false))
  /** Only where this replica leads. */
  let cleanup: Cleanup | undefined
  /** By name, the last reconciliation that was asked for: those of one definition run one after the other. */
  const turns = new Map<string, Promise<void>>()
  /** Definitions without their status that another process has written, with the time at which they were seen. */
  const leftToOthers = new Map<string, number>()

  /** Names that the informer has read since it began. */
  let listed = new Set<string>()
  const informer = startInformer(
    stored.cache,
    definitions.keyPrefix,
    {
      begin: () => void (listed = new Set()),
      // What is established is served at once; the rest is decided in turn.
      entry(entry) {
        const definition = readDefinition(entry)
        const { name = '' } = metaOf(definition)
        listed.add(name)
        install(name, definition)
        if (!hasRightStatus(name, definition)) queue.add(name)
        cleanup?.enqueue(definition)
      },
      complete() {
        for (const name of known.keys()) if (!listed.has(name)) queue.add(name)
      },
      event({ key, entry }: ObjectEvent) {
        const name = key.slice(definitions.keyPrefix.length)
        const seen = known.get(name)
        if (!entry || !seen || revisionOf(seen.definition) < entry.revision) queue.add(name)
      },
    },
    env.log,
  )

  /** `isOwn`: a request of this process waits for it. */
  function reconcile(name: string, isOwn: boolean): Promise<void> {
    const before = turns.get(name)
    const done = before ? before.then(() => reconcileNow(name, isOwn)) : reconcileNow(name, isOwn)
    const over = done
      .catch(() => {})
      .then(() => {
        if (turns.get(name) === over) turns.delete(name)
      })
    turns.set(name, over)
    return done
  }

  async function reconcileNow(name: string, isOwn: boolean): Promise<void> {
    const entry = await stored.get('', name)
    const before = known.get(name)?.definition
    // Most events are those of our own writes.
    if (entry && before && revisionOf(before) === entry.revision && hasRightStatus(name, before)) return
    const isRight = !entry || hasRightStatus(name, readDefinition(entry))
    if (isRight) leftToOthers.delete(name)
    else if (isOwn || !isLeftToOthers(name)) await giveStatus(name)
    const found = await stored.get('', name)
    if (!found) return uninstall(name)
    const definition = readDefinition(found)
    install(name, definition)
    cleanup?.enqueue(definition)
    // Other definitions may wait for names that this one no longer has.
    if (before && !hasSameNames(before, definition)) reconsider(name)
  }

  /** Whether another process, which wrote the definition, is to give it its status. */
  function isLeftToOthers(name: string): boolean {
    if (!namesLock) return false
    const now = performance.now()
    const since = leftToOthers.get(name) ?? now
    leftToOthers.set(name, since)
    if (now - since >= LEFT_TO_OTHERS_MS) return false
    queue.addLater(name, LEFT_TO_OTHERS_MS * (1 + env.random()))
    return true
  }

  /** The names are decided before the status is written, so that the next definition is decided with them. */
  async function giveStatus(name: string): Promise<void> {
    const change = (guard?: Guard): Promise<void> =>
      objects.change({ ...definitions, guard }, '', name, old => decide(name, old), 'status')
    const changeInTurn = async (guard: Guard): Promise<void> => {
      await readNamesOf(groupIn(name))
      await change(guard)
    }
    try {
      await (namesLock ? namesLock.inTurn(groupIn(name), changeInTurn) : change())
    } catch (error) {
      const before = known.get(name)
      if (before) take(name, namesOf(before.definition))
      else release(name)
      // Other definitions may have been refused names that this one did not get.
      reconsider(name)
      throw error
    }
  }

  /** The names that definitions of the group have now, those included that other processes have just decided. */
  async function readNamesOf(group: string): Promise<void> {
    const { entries } = await stored.cache.range(definitions.keyPrefix)
    for (const entry of entries) {
      const name = entry.key.slice(definitions.keyPrefix.length)
      const seen = known.get(name)
      if (groupIn(name) !== group || (seen && revisionOf(seen.definition) === entry.revision)) continue
      take(name, namesOf(readDefinition(entry)))
    }
  }

  function decide(name: string, definition: ApiObject): ApiObject | undefined {
    const changed = withRightStatus(definition, taken.get(groupIn(name)) ?? NO_NAMES, context.now())
    take(name, namesOf(changed))
    return changed === definition ? undefined : changed
  }

  const hasRightStatus = (name: string, definition: ApiObject): boolean =>
    withRightStatus(definition, taken.get(groupIn(name)) ?? NO_NAMES, context.now()) === definition

  const namesOf = (definition: ApiObject): DefinitionNames => statusOf(definition).acceptedNames

  function take(name: string, names: DefinitionNames): void {
    const group = groupIn(name)
    const ofGroup = taken.get(group) ?? createGroupNames()
    taken.set(group, ofGroup)
    ofGroup.put(name, names)
  }

  function release(name: string): void {
    const group = groupIn(name)
    const ofGroup = taken.get(group)
    ofGroup?.remove(name)
    if (ofGroup?.size === 0) taken.delete(group)
  }

  function install(name: string, definition: ApiObject): void {
    const old = known.get(name)
    const fresh: KindGuard = { key: `${definitions.keyPrefix}${name}`, revision: revisionOf(definition) }
    const kind = kindFor(definition, old, fresh)
    const guard = old && old.kind === kind ? old.guard : fresh
    guard.revision = fresh.revision
    // The kind that stays has the schemas of the definition before, which are the same.
    const same = kind !== undefined && kind.versions === old?.kind?.versions ? old.definition : undefined
    known.set(name, { definition: same ? { ...definition, spec: same['spec']! } : definition, kind, guard })
    if (!same) schemas.keep(name, storedSchemasOf(definition))
    take(name, namesOf(definition))
    if (kind === old?.kind) return
    const { group, plural } = resourceDefinedBy(definition)
    if (kind) registry.put(kind)
    else registry.remove(group, plural)
    // Watches of the replaced kind end; clients start them again and get the objects by the new rules.
    if (old?.kind && old.kind.versions !== kind?.versions) context.retire(old.kind)
  }

  /** The same kind as long as its spec and its names stay. */
  function kindFor(definition: ApiObject, old: KnownDefinition | undefined, guard: KindGuard): Kind | undefined {
    const { group, plural } = resourceDefinedBy(definition)
    if (builtin.has(`${group}/${plural}`)) return undefined
    const defined = customKind(types, definition, {
      convert: conversionOf(definition, converters),
      ruleCompiler: converters.ruleCompiler,
      isBuiltin: apiVersion => builtinVersions.has(apiVersion),
    })
    const since = old?.kind?.since ?? revisionOf(definition)
    const kind = defined && { ...defined, since, guard }
    if (!kind || !old?.kind) return kind
    if (!isSameSpec(definition, old.definition) || !hasSameNames(definition, old.definition)) {
      return kind
    }
    return kind.verbs === old.kind.verbs ? old.kind : { ...old.kind, verbs: kind.verbs, guard }
  }

  function uninstall(name: string): void {
    const kind = known.get(name)?.kind
    known.delete(name)
    schemas.forget(name)
    release(name)
    if (kind) {
      registry.remove(kind.group, kind.names.plural)
      context.retire(kind)
    }
    reconsider(name)
  }

  /** Other definitions of the group may get their names now. */
  function reconsider(except: string): void {
    for (const name of taken.get(groupIn(except))?.definitions() ?? []) {
      const seen = known.get(name)
      if (name !== except && (turns.has(name) || (seen && isWaiting(seen.definition)))) queue.add(name)
    }
  }

  await whenStarted(informer)
  return {
    waitEstablished: name => reconcile(ownText(name), true),
    get isComplete() {
      return informer.unreadable.size === 0
    },
    startCleanup() {
      const started = createCleanup(context, definitions, name => known.get(name)?.kind, env)
      cleanup = started
      for (const { definition } of known.values()) started.enqueue(definition)
      return {
        idle: () => started.idle(),
        stop() {
          started.stop()
          if (cleanup === started) cleanup = undefined
        },
      }
    },
    async idle() {
      await queue.idle()
      await cleanup?.idle()
    },
    stop() {
      informer.stop()
      queue.stop()
      cleanup?.stop()
    },
  }
}

const revisionOf = (definition: ApiObject): number => Number(metaOf(definition).resourceVersion)

/** A change of the spec changes the generation. */
const isSameSpec = (a: ApiObject, b: ApiObject): boolean =>
  metaOf(a).uid === metaOf(b).uid && Number(metaOf(a).generation) === Number(metaOf(b).generation)

/** The name of a definition is its plural, which has no dot, and its group. */
const groupIn = (name: string): string => name.slice(name.indexOf('.') + 1)

const hasSameNames = (a: ApiObject, b: ApiObject): boolean =>
  equalValues(statusOf(a).acceptedNames as unknown as Value, statusOf(b).acceptedNames as unknown as Value)

const isWaiting = (definition: ApiObject): boolean =>
  (statusOf(definition).conditions ?? []).some(({ type, status }) => type === 'NamesAccepted' && status !== 'True')
