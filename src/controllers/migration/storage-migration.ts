// Carries out StorageVersionMigrations: rewrites every object of a resource, so that all are stored in the current storage
// version, and then removes the other versions from the storedVersions of the definition.
//
// A migration that was interrupted is run again from the start. That does no harm: an object that is already stored in the
// right version is not written, and one that was deleted or written meanwhile needs nothing.

import { nextTurn } from '../../base/turns.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { hasReason, StatusError } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { startInformer } from '../../objects/informer.js'
import { objectKeyOf } from '../../objects/object-store.js'
import { decodeStored, isStoredAs, storedHead } from '../../objects/stored-object.js'
import type { Entry } from '../../storage/store.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'
import {
  begun,
  checkpointOf,
  definitionBegun,
  definitionFailed,
  definitionSucceeded,
  failed,
  type GroupResource,
  isFinished,
  isRunning,
  resourceToMigrate,
  succeeded,
} from './migration-progress.js'

/** Small, so that requests run between pages. */
const PAGE = 200
const MAX_CONCURRENT = 16
const MAX_CONCURRENT_RESOURCES = 5

export interface MigrationKinds {
  readonly migrations: Kind
  readonly definitions: Kind
}

export async function startStorageMigration(
  context: ApiContext,
  registry: Registry,
  { migrations, definitions }: MigrationKinds,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, 'storage-version-migrator-controller')
  const { cache } = context.objectStore(migrations)
  // The queue holds resources, so that of several migrations of one resource only one runs at a time.
  const queue = createControllerQueue('storage_version_migrator', env, migrateNext, MAX_CONCURRENT_RESOURCES)
  let stopped = false
  const informer = startInformer(
    cache,
    migrations.keyPrefix,
    {
      entry: entry => enqueue(decodeStored(entry)),
      event: ({ entry }) => (entry ? enqueue(decodeStored(entry)) : undefined),
    },
    env.log,
  )

  function enqueue(migration: ApiObject): void {
    if (!isFinished(migration)) queue.add(nameOf(resourceToMigrate(migration)))
  }

  /** Runs the migration that is marked as running, or else the oldest; the next one follows. */
  async function migrateNext(resource: string): Promise<void> {
    const next = (await unfinishedOf(resource)).toSorted(
      (a, b) => Number(isRunning(b)) - Number(isRunning(a)) || compareAge(a, b),
    )[0]
    if (!next || stopped) return
    await run(next)
    queue.add(resource)
  }

  async function unfinishedOf(resource: string): Promise<ApiObject[]> {
    const { entries } = await cache.range(migrations.keyPrefix)
    return entries
      .map(entry => decodeStored(entry))
      .filter(migration => !isFinished(migration) && nameOf(resourceToMigrate(migration)) === resource)
  }

  async function run(migration: ApiObject): Promise<void> {
    const resource = resourceToMigrate(migration)
    const { name = '' } = metaOf(migration)
    if (!kindOf(resource)) return fail(name, resource, 'resource does not exist in discovery')
    await begin(migration, resource)
    try {
      await rewriteAll(name, resource)
    } catch (error) {
      // Temporary errors are retried by the queue.
      if (!(error instanceof StatusError) || RETRIED.some(reason => hasReason(error, reason))) throw error
      return fail(name, resource, `migration encountered unhandled error: ${error.message}`)
    }
  }

  async function begin(migration: ApiObject, resource: GroupResource): Promise<void> {
    if (isRunning(migration)) return
    const { name = '' } = metaOf(migration)
    await changeDefinition(resource, old => definitionBegun(old, name, context.now()))
    const { revision } = await context
      .objectStore(kindOf(resource)!)
      .cache.range(kindOf(resource)!.keyPrefix, { limit: 1 })
    await changeMigration(name, old => begun(old, revision, context.now()))
  }

  /** Page by page. Kind and migration are read again for each page, since both may change or be deleted. */
  async function rewriteAll(name: string, resource: GroupResource): Promise<void> {
    let startAfter: string | undefined
    for (;;) {
      const migration = await objects.get(migrations, '', name)
      const kind = kindOf(resource)
      if (stopped || !migration || isFinished(migration)) return
      if (!kind) return fail(name, resource, 'resource does not exist in discovery')
      const page = await context.objectStore(kind).cache.range(kind.keyPrefix, { limit: PAGE, startAfter })
      await rewrite(kind, page.entries, checkpointOf(migration))
      if (stopped) return
      if (page.remaining === 0) return succeed(name, resource)
      startAfter = page.entries.at(-1)!.key
      await nextTurn()
    }
  }

  async function rewrite(kind: Kind, entries: readonly Entry[], checkpoint: number): Promise<void> {
    const head = storedHead(kind.storedAs, kind.names.kind)
    const rest = entries.filter(entry => entry.revision <= checkpoint || !isStoredAs(entry, head)).values()
    const worker = async () => {
      for (const { key } of rest) {
        if (stopped) return
        const { namespace, name } = objectKeyOf(kind, key)
        await objects.change(kind, namespace, name, old => old)
      }
    }
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker))
  }

  /** The definition is written first: a client that sees the migration succeeded may rely on storedVersions. */
  async function succeed(name: string, resource: GroupResource): Promise<void> {
    await changeDefinition(resource, old => definitionSucceeded(old, context.now()))
    await changeMigration(name, old => succeeded(old, context.now()))
  }

  async function fail(name: string, resource: GroupResource, message: string): Promise<void> {
    await changeDefinition(resource, old => definitionFailed(old, context.now()))
    await changeMigration(name, old => failed(old, message, context.now()))
  }

  const changeMigration = (name: string, change: (old: ApiObject) => ApiObject): Promise<void> =>
    objects.change(migrations, '', name, change, 'status')

  /** Built-in resources have no definition; then nothing happens. */
  const changeDefinition = ({ group, resource }: GroupResource, change: (old: ApiObject) => ApiObject): Promise<void> =>
    objects.change(definitions, '', `${resource}.${group}`, change, 'status')

  function kindOf({ group, resource }: GroupResource): Kind | undefined {
    for (const kind of registry.all()) {
      if (kind.group !== group || kind.names.plural !== resource) continue
      const isServed = kind.versions.some(({ served }) => served)
      return isServed && MIGRATING_VERBS.every(verb => kind.verbs.includes(verb)) ? kind : undefined
    }
    return undefined
  }

  await whenRead(informer.started)
  return {
    idle: () => queue.idle(),
    stop() {
      stopped = true
      informer.stop()
      queue.stop()
    },
  }
}

const RETRIED = ['ServerTimeout', 'TooManyRequests', 'ServiceUnavailable', 'InternalError', 'Timeout'] as const
const MIGRATING_VERBS = ['list', 'patch', 'update']

const nameOf = ({ group, resource }: GroupResource): string => `${resource}.${group}`

function compareAge(a: ApiObject, b: ApiObject): number {
  const rank = (object: ApiObject): string => `${metaOf(object).creationTimestamp ?? ''} ${metaOf(object).name ?? ''}`
  return rank(a) < rank(b) ? -1 : 1
}
