// The conditions of a StorageVersionMigration and of the definition whose objects it migrates. Pure functions from one
// object to the next; `storage-migration.ts` writes the results.

import { type NewCondition, setCondition, withCondition, withStatus } from '../../crd/conditions.js'
import { type Condition, statusOf, versionsOf } from '../../crd/definition.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'

export interface GroupResource {
  readonly group: string
  readonly resource: string
}

interface MigrationStatus {
  readonly conditions?: readonly Condition[]
  readonly resourceVersion?: string
}

// ---- the migration

export const resourceToMigrate = (migration: ApiObject): GroupResource =>
  (migration['spec'] as ValueObject)['resource'] as unknown as GroupResource

const progressOf = (migration: ApiObject): MigrationStatus => (isObject(migration['status']) ? migration['status'] : {})

const isTrue = (migration: ApiObject, type: string): boolean =>
  (progressOf(migration).conditions ?? []).some(each => each.type === type && each.status === 'True')

export const isRunning = (migration: ApiObject): boolean => isTrue(migration, 'Running')

export const isFinished = (migration: ApiObject): boolean =>
  isTrue(migration, 'Succeeded') || isTrue(migration, 'Failed')

/** Objects written after this revision are in the storage version, unless their write started before it. */
export const checkpointOf = (migration: ApiObject): number => Number(progressOf(migration).resourceVersion ?? 0)

const withProgress = (migration: ApiObject, conditions: readonly NewCondition[], now: number): ApiObject => {
  const status = progressOf(migration)
  const all = conditions.reduce<readonly Condition[]>(
    (set, each) => withCondition(set, each, now),
    [...(status.conditions ?? [])],
  )
  return { ...migration, status: { ...status, conditions: all as unknown as Value } }
}

export function begun(migration: ApiObject, revision: number, now: number): ApiObject {
  const running = withProgress(migration, [RUNNING], now)
  const { resourceVersion = String(revision), ...status } = running['status'] as ValueObject
  return { ...running, status: { ...status, resourceVersion } }
}

export const succeeded = (migration: ApiObject, now: number): ApiObject =>
  withProgress(migration, [COMPLETED, SUCCEEDED], now)

export function failed(migration: ApiObject, message: string, now: number): ApiObject {
  const failure = { type: 'Failed', status: 'True', reason: 'StorageVersionMigrationFailed', message }
  return withProgress(migration, isRunning(migration) ? [COMPLETED, failure] : [failure], now)
}

const RUNNING = { type: 'Running', status: 'True', reason: 'MigrationRunning', message: 'The migration is running' }
const COMPLETED = { type: 'Running', status: 'False', reason: 'MigrationCompleted', message: 'Migration completed' }
const SUCCEEDED = { type: 'Succeeded', status: 'True', reason: 'StorageVersionMigrationSucceeded', message: '' }

// ---- the definition of the migrated kind

const MIGRATING = 'StorageMigrating'

const generationOf = (definition: ApiObject): number => Number(metaOf(definition).generation ?? 0)

export const definitionBegun = (definition: ApiObject, migration: string, now: number): ApiObject =>
  setCondition(
    definition,
    {
      type: MIGRATING,
      status: 'True',
      reason: 'MigrationRunning',
      message: `Migration ${migration} is running`,
      observedGeneration: generationOf(definition),
    },
    now,
  )

/** Sets storedVersions to the storage version, unless the spec has changed during the migration. */
export function definitionSucceeded(definition: ApiObject, now: number): ApiObject {
  const status = statusOf(definition)
  const old = (status.conditions ?? []).find(({ type }) => type === MIGRATING)
  const isSame = old?.observedGeneration === generationOf(definition)
  const storedVersions = versionsOf(definition).flatMap(({ name, storage }) => (storage ? [name] : []))
  const outcome = isSame
    ? 'and the stored versions have been updated'
    : 'but the stored versions have not been updated due to a generation mismatch'
  const message = `The migration has succeeded ${outcome}`
  return definitionDone(isSame ? withStatus(definition, { ...status, storedVersions }) : definition, {
    reason: 'MigrationSucceeded',
    message,
    now,
  })
}

export const definitionFailed = (definition: ApiObject, now: number): ApiObject =>
  definitionDone(definition, { reason: 'MigrationFailed', message: 'The migration has failed', now })

const definitionDone = (
  definition: ApiObject,
  { reason, message, now }: { readonly reason: string; readonly message: string; readonly now: number },
): ApiObject =>
  setCondition(
    definition,
    { type: MIGRATING, status: 'False', reason, message, observedGeneration: generationOf(definition) },
    now,
  )
