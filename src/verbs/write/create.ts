// create: a body is decoded and prepared, and stored under a name that is not taken.

import type { Awaitable } from '../../base/awaitable.js'
import { throwIfAborted } from '../../base/cancellation.js'
import { startTurns } from '../../base/turns.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { alreadyExists, beingDeleted, generatedNameTaken, StatusError, unclassified } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf, nameMismatch, type ObjectMeta } from '../../meta/object/object-meta.js'
import { parseObjectVersion } from '../../meta/options/resource-version.js'
import { copyValue } from '../../meta/values/value.js'
import type { ObjectEntry } from '../../objects/object-attributes.js'
import { asWritten, type ObjectView, viewValue } from '../../objects/object-view.js'
import { asStatus } from '../../objects/storage-status.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Body } from '../../request/body.js'
import type { Target } from '../../request/target.js'
import type { ApiContext } from '../api-context.js'
import { reportStored } from '../pipeline/admit.js'
import { bodySpecOf, readObject } from '../pipeline/decode-body.js'
import { admitCreate, asPosted, type CreateRequest, completeCreate } from '../pipeline/prepare-create.js'
import { DECODED, MADE, type Origin, type Prepared, storePrepared } from '../pipeline/prepared.js'
import type { ObjectResult } from '../result.js'
import { storeWithin } from './store-within.js'

/** How often a name is generated anew when it is taken. */
const NAME_ATTEMPTS = 8

export async function createObject(context: ApiContext, request: CreateRequest, body: Body): Promise<ObjectResult> {
  const { target, options } = request
  const turns = startTurns()
  const sent = readObject(request, body, bodySpecOf(target), options.fieldValidation)
  // Where the path names the object, the body must name the same one.
  const mismatch = target.name === '' ? undefined : nameMismatch(metaOf(sent), target.name)
  if (mismatch) throw mismatch
  if (turns.isDue()) await turns.give()
  const object = await createFrom(context, request, asPosted(sent), DECODED)
  return { type: 'object', status: 201, versioned: target, object }
}

/** Creates an object that is decoded already. May change `sent`. */
export async function createFrom(
  context: ApiContext,
  request: CreateRequest,
  sent: ApiObject,
  origin: Origin,
): Promise<ObjectView> {
  const { kind } = request.target
  const turns = startTurns()
  // Before admission looks at it. The writes of the server itself are not repeated.
  const within = origin === MADE || request.dryRun ? undefined : await namespaceOf(context, request)
  const admitted = await admitCreate(context, request, sent, origin)
  const { name = '', generateName = '' } = metaOf(admitted.object)
  const isGenerated = name === '' && generateName !== ''
  const mark = request.warnings.mark()
  for (let attempt = 1; ; attempt++) {
    throwIfAborted(request)
    // The strategy changes the object, and it must not see the changes of the attempt before.
    const object = isGenerated ? copyValue(admitted.object) : admitted.object
    if (turns.isDue()) await turns.give()
    const prepared = await completeCreate(context, request, { ...admitted, object })
    const how = { dryRun: request.dryRun, isApply: origin.isTracked }
    if (turns.isDue()) await turns.give()
    const view = await storePrepared(prepared, how, ready => store(context, request, ready, within))
    if (view) return view
    if (!isGenerated) throw await nameTaken(context, request.target, metaOf(prepared.object))
    if (attempt === NAME_ATTEMPTS) throw generatedNameTaken(resourceOf(kind), metaOf(prepared.object).name ?? '')
    request.warnings.reset(mark)
  }
}

/** Undefined if the name is taken. A dry run only looks. */
async function store(
  context: ApiContext,
  request: CreateRequest,
  prepared: Prepared,
  within: ObjectEntry | undefined,
): Promise<ObjectView | undefined> {
  const { object, stored } = prepared
  const { target, dryRun } = request
  const { kind } = target
  const objects = context.objectStore(kind)
  const { namespace = '', name = '', resourceVersion = '' } = metaOf(object)
  if (dryRun) {
    if (await asStatus(0, () => objects.get(namespace, name))) return undefined
    const read = await objects.views.readWritten(target, prepared, request)
    return viewValue(asWritten(kind, read, resourceVersion))
  }
  // A resourceVersion that is no version is ignored.
  const version = parseObjectVersion(resourceVersion)
  if (version.ok && version.value !== 0n) {
    throw unclassified('resourceVersion should not be set on objects to be created')
  }
  const entry = await storeWithin(context, request, within, guard => asStatus(0, () => objects.create(stored, guard)))
  if (entry === false) return undefined
  reportStored(context, prepared, entry)
  return objects.views.viewStored(target, prepared, entry, request)
}

function namespaceOf({ namespaces }: ApiContext, { target }: CreateRequest): Awaitable<ObjectEntry | undefined> {
  return target.namespace === '' ? undefined : namespaces.known(target.namespace)
}

/** The object exists. Admission may refuse with the same reason. */
export class NameTaken extends StatusError {}

async function nameTaken(context: ApiContext, { kind }: Target, meta: ObjectMeta): Promise<NameTaken> {
  const { namespace = '', name = '' } = meta
  const entry = await asStatus(0, () => context.objectStore(kind).get(namespace, name))
  const isTerminating = entry && metaOf(decodeStored(entry)).deletionTimestamp !== undefined
  const { status } = isTerminating ? beingDeleted(resourceOf(kind), name) : alreadyExists(resourceOf(kind), name)
  return new NameTaken(status)
}
