// create: a body becomes an object, is completed, admitted and checked, and then stored under a name that is free.

import { groupKindIn, resourceOf } from '../../kinds/kind-names.js'
import type { FieldError } from '../../meta/errors/field-errors.js'
import {
  alreadyExists,
  beingDeleted,
  generatedNameTaken,
  invalid,
  type StatusError,
  unclassified,
  withWarnings,
} from '../../meta/errors/status.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { checkPathSegment } from '../../meta/object/names.js'
import {
  checkObjectMeta,
  metaForCreate,
  metaOf,
  nameMismatch,
  type ObjectMeta,
  placeInNamespace,
} from '../../meta/object/object-meta.js'
import { parseObjectVersion } from '../../meta/options/resource-version.js'
import type { WriteOptions } from '../../meta/options/write-options.js'
import { asRead, asWritten, type ObjectView, viewStored, viewValue } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import { decodeStored } from '../../objects/stored-object.js'
import { type Body } from '../../request/body.js'
import { type Target } from '../../request/target.js'
import { type UserInfo } from '../../request/user-info.js'
import { type ApiContext } from '../api-context.js'
import { withAllocation } from '../pipeline/allocation.js'
import { bodySpecOf, readObject } from '../pipeline/decode-body.js'
import { track } from '../pipeline/field-tracking.js'
import type { ObjectResult } from '../result.js'

/** How often a name is generated anew when it is taken. */
const NAME_ATTEMPTS = 8

export async function createObject(
  context: ApiContext,
  target: Target,
  options: WriteOptions,
  body: Body,
  user: UserInfo,
): Promise<ObjectResult> {
  const { object: sent, warnings } = readObject(body, bodySpecOf(target), options.fieldValidation)
  // Where the path names the object, the body must mean the same one.
  const mismatch = target.name === '' ? undefined : nameMismatch(metaOf(sent), target.name)
  if (mismatch) throw mismatch
  const told: string[] = [...warnings]
  const object = await createFrom(context, target, sent, options, user, told).catch((error: unknown) => {
    throw withWarnings(error, told)
  })
  return { type: 'object', status: 201, warnings: told, versioned: target, object }
}

/** Creates an object that has been read already. Adds to the warnings. `isTracked`: its managedFields are right. */
export async function createFrom(
  context: ApiContext,
  target: Target,
  sent: ApiObject,
  options: WriteOptions,
  user: UserInfo,
  warnings: string[],
  isTracked = false,
): Promise<ObjectView> {
  const { kind, version } = target
  const { strategy: rules } = version
  const placed = setMeta(sent, placeInNamespace(metaOf(sent), target.namespace))
  const defaulted = rules.applyDefaults(placed)
  const tracked = isTracked ? defaulted : await track(context, target, undefined, defaulted, options, user)
  const admitted = await context.admit(
    { operation: 'CREATE', target, object: tracked, old: undefined, options, user },
    warnings,
  )
  for (let attempt = 1; ; attempt++) {
    const now = context.now()
    const object = rules.prepareForCreate(setMeta(admitted, metaForCreate(metaOf(admitted), now)), now)
    const stored = await withAllocation(target, object, undefined, options.dryRun, async () => {
      const errors = errorsOf(target, object)
      if (errors.length > 0) throw invalid(groupKindIn(object, kind), metaOf(object).name ?? '', errors)
      await context.validate({ operation: 'CREATE', target, object, old: undefined, options, user }, warnings)
      if (attempt === 1) warnings.push(...rules.warnings(object, undefined))
      return store(context, target, object, options.dryRun)
    })
    if (stored) return stored
    const isGenerated = !metaOf(sent).name && metaOf(sent).generateName
    if (!isGenerated) throw await taken(context, target, metaOf(object))
    if (attempt === NAME_ATTEMPTS) throw generatedNameTaken(resourceOf(kind), metaOf(object).name ?? '')
  }
}

/** What the kind finds wrong, or else what is wrong with any object of that kind. */
function errorsOf({ kind, version }: Target, object: ApiObject): readonly FieldError[] {
  const errors = version.strategy.validate(object)
  const common = { namespaced: kind.namespaced, name: checkPathSegment }
  return errors.length > 0 ? errors : checkObjectMeta(metaOf(object), common)
}

/** Stores the object, or only finds out whether it could be; nothing when its name is taken. */
async function store(
  context: ApiContext,
  target: Target,
  object: ApiObject,
  dryRun: boolean,
): Promise<ObjectView | undefined> {
  const { kind } = target
  const kindStore = context.objectStore(kind)
  const { namespace = '', name = '', resourceVersion = '' } = metaOf(object)
  const stored = await kind.convert(withoutVersion(object), kind.storedAs)
  if (dryRun) {
    if (await asStatus(0, () => kindStore.get(namespace, name))) return undefined
    const read = await asRead(target, object, stored)
    return viewValue(asWritten(kind, read, resourceVersion))
  }
  // What is no version at all does no harm.
  const version = parseObjectVersion(resourceVersion)
  if (version.ok && version.value !== 0n) {
    throw unclassified('resourceVersion should not be set on objects to be created')
  }
  const entry = await asStatus(0, () => kindStore.create(stored))
  return entry === false ? undefined : viewStored(target, object, stored, entry)
}

function withoutVersion(object: ApiObject): ApiObject {
  if (metaOf(object).resourceVersion === undefined) return object
  const { resourceVersion: _, ...meta } = metaOf(object)
  return setMeta(object, meta)
}

async function taken(context: ApiContext, { kind }: Target, meta: ObjectMeta): Promise<StatusError> {
  const { namespace = '', name = '' } = meta
  const entry = await asStatus(0, () => context.objectStore(kind).get(namespace, name))
  const isTerminating = entry && metaOf(decodeStored(entry)).deletionTimestamp !== undefined
  return isTerminating ? beingDeleted(resourceOf(kind), name) : alreadyExists(resourceOf(kind), name)
}
