// What the write pipeline makes of the objects that every server creates at its first start. It is always the same but for
// uids and times, so it is kept in `data/bootstrap-objects.json`, and a first start needs the pipeline for none of them.
// `npx vitest run src/server/startup/bootstrap.test.ts --update` writes the file anew.

import { readFileSync } from 'node:fs'
import { once } from '../../../base/memo.js'
import { packageFile } from '../../../base/package-file.js'
import type { Kind } from '../../../kinds/kind.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import type { IdGenerator } from '../../../meta/object/ids.js'
import { type ManagedFieldsEntry, metaForCreate, metaOf, withMeta } from '../../../meta/object/object-meta.js'
import { objectAt, objectsAt } from '../../../meta/values/access.js'
import { printTime } from '../../../meta/values/time.js'
import { equalValues } from '../../../meta/values/value.js'

/** Finds what the pipeline makes of an object; undefined if that is not known, or not in the storage version of the kind. */
export type FindPrepared = (kind: Kind, object: ApiObject) => ApiObject | undefined

/** Read at the first call, and the same for every server. */
const preparedObjects = once((): ReadonlyMap<string, ApiObject> => {
  const objects = JSON.parse(readFileSync(packageFile('data/bootstrap-objects.json'), 'utf8')) as ApiObject[]
  return new Map(objects.map(object => [nameOf(object), object]))
})

export const findPrepared: FindPrepared = (kind, object) => {
  const prepared = preparedObjects().get(nameOf(object))
  // Feature gates add rules to roles.
  const isSame = prepared?.apiVersion === kind.storedAs && equalValues(prepared['rules'] ?? [], object['rules'] ?? [])
  return isSame ? prepared : undefined
}

/** The prepared object as one that is created now, with its members in their order. */
export function createdNow(prepared: ApiObject, now: number, ids: IdGenerator): ApiObject {
  const meta = metaForCreate(metaOf(prepared), now, ids)
  const at = (entry: ManagedFieldsEntry): ManagedFieldsEntry => ({ ...entry, time: printTime(now) })
  const managedFields = (meta.managedFields ?? []).map(at)
  return withMeta(withConditionsOf(prepared, printTime(now)), { ...meta, managedFields }) as ApiObject
}

/** Conditions that an object is created with began when it was created. */
function withConditionsOf(object: ApiObject, time: string): ApiObject {
  const status = objectAt(object, 'status')
  const conditions = objectsAt(status, 'conditions')
  if (conditions.length === 0) return object
  const began = conditions.map(condition => Object.assign({}, condition, { lastTransitionTime: time }))
  return { ...object, status: { ...status, conditions: began } }
}

function nameOf(object: ApiObject): string {
  const { namespace = '', name = '' } = metaOf(object)
  return `${object.kind}/${namespace}/${name}`
}
