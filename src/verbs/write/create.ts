// create: a body becomes an object, is completed, admitted and checked, and then stored under a name that is free.

import { throwIfAborted } from '../../base/cancellation.js'
import { groupKindIn, resourceOf } from '../../kinds/kind-names.js'
import type { FieldError } from '../../meta/errors/field-errors.js'
import {
  alreadyExists,
  beingDeleted,
  generatedNameTaken,
  invalid,
  type StatusError,
  unclassified,
} from '../../meta/errors/status.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { checkPathSegment } from '../../meta/object/names.js'
import {
  checkObjectMeta,
  metaForCreate,
  metaOf,
  nameMismatch,
  type ObjectMeta,
  setRequestNamespace,
} from '../../meta/object/object-meta.js'
import { parseObjectVersion } from '../../meta/options/resource-version.js'
import type { WriteOptions } from '../../meta/options/write-options.js'
import { asRead, asWritten, type ObjectView, viewStored, viewValue } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import { decodeStored } from '../../objects/stored-object.js'
import { type Body } from '../../request/body.js'
import type { ResourceRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import { type ApiContext } from '../api-context.js'
import { withAllocation } from '../pipeline/allocation.js'
import { bodySpecOf, readObject } from '../pipeline/decode-body.js'
import { track } from '../pipeline/field-tracking.js'
import type { ObjectResult } from '../result.js'

/** How often a name is generated anew when it is taken. */
const NAME_ATTEMPTS = 8

export async function createObject(
  context: ApiContext,
  request: ResourceRequest<WriteOptions>,
  body: Body,
): Promise<ObjectResult> {
  const { target, options } = request
  const sent = readObject(request, body, bodySpecOf(target), options.fieldValidation)
  // Where the path names the object, the body must name the same one.
  const mismatch = target.name === '' ? undefined : nameMismatch(metaOf(sent), target.name)
  if (mismatch) throw mismatch
  const object = await createFrom(context, request, sent)
  return { type: 'object', status: 201, versioned: target, object }
}

/** Creates an object that is decoded already. `isTracked`: its managedFields are set. */
export async function createFrom(
  context: ApiContext,
  request: ResourceRequest<WriteOptions>,
  sent: ApiObject,
  isTracked = false,
): Promise<ObjectView> {
  const { target, dryRun } = request
  const { kind, version } = target
  const { strategy: rules } = version
  const placed = setMeta(sent, setRequestNamespace(metaOf(sent), target.namespace))
  const defaulted = rules.applyDefaults(placed)
  const tracked = isTracked ? defaulted : await track(context, request, undefined, defaulted)
  const admitted = await context.admit({ operation: 'CREATE', request, object: tracked, old: undefined })
  const mark = request.warnings.mark()
  for (let attempt = 1; ; attempt++) {
    throwIfAborted(request)
    const now = context.now()
    const object = rules.prepareForCreate(setMeta(admitted, metaForCreate(metaOf(admitted), now)), now)
    const stored = await withAllocation(target, object, undefined, dryRun, async () => {
      const warnings: string[] = []
      const errors = errorsOf(target, object, warnings)
      if (errors.length > 0) throw invalid(groupKindIn(object, kind), metaOf(object).name ?? '', errors)
      await context.validate({ operation: 'CREATE', request, object, old: undefined })
      for (const text of warnings) request.warn(text)
      for (const text of rules.warnings(object, undefined)) request.warn(text)
      return store(context, request, object)
    })
    if (stored) return stored
    const isGenerated = !metaOf(sent).name && metaOf(sent).generateName
    if (!isGenerated) throw await taken(context, target, metaOf(object))
    if (attempt === NAME_ATTEMPTS) throw generatedNameTaken(resourceOf(kind), metaOf(object).name ?? '')
    request.warnings.reset(mark)
  }
}

/** What the kind finds wrong, or else what is wrong with any object of that kind. */
function errorsOf({ kind, version }: Target, object: ApiObject, warnings: string[]): readonly FieldError[] {
  const errors = version.strategy.validate(object, warnings)
  const common = { namespaced: kind.namespaced, name: checkPathSegment }
  return errors.length > 0 ? errors : checkObjectMeta(metaOf(object), common)
}

/** Stores the object, or only finds out whether it could be; nothing when its name is taken. */
async function store(
  context: ApiContext,
  request: ResourceRequest,
  object: ApiObject,
): Promise<ObjectView | undefined> {
  const { target, dryRun } = request
  const { kind } = target
  const kindStore = context.objectStore(kind)
  const { namespace = '', name = '', resourceVersion = '' } = metaOf(object)
  const stored = await kind.convert(withoutVersion(object), kind.storedAs, request)
  if (dryRun) {
    if (await asStatus(0, () => kindStore.get(namespace, name))) return undefined
    const read = await asRead(target, object, stored, request)
    return viewValue(asWritten(kind, read, resourceVersion))
  }
  // What is no version at all does no harm.
  const version = parseObjectVersion(resourceVersion)
  if (version.ok && version.value !== 0n) {
    throw unclassified('resourceVersion should not be set on objects to be created')
  }
  throwIfAborted(request)
  const entry = await asStatus(0, () => kindStore.create(stored))
  return entry === false ? undefined : viewStored(target, object, stored, entry, request)
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
