// resource.k8s.io/v1beta1 has two parts in another shape: what a request asks for is in the request itself instead of
// `exactly`, and what a device has is in `basic`. The rules are those of v1, and so are the paths in messages.
import { has, objectAt, objectOrNone, objectsAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { isObject, type ValueObject } from '../../meta/values/value.js'
import type { KindDefinition } from '../common/define-kind.js'
import { type Deprecation, earlierVersion } from '../common/earlier-version.js'
import type { CheckUpdate } from '../common/validation.js'
import { defaultDevices } from './claim-spec.js'

const API_VERSION = 'resource.k8s.io/v1beta1'
const DEPRECATION: Deprecation = { since: 35 }

type Convert = (object: ValueObject) => ValueObject

/** A part of an object in v1beta1 and in v1. */
interface Shape {
  readonly toV1: Convert
  readonly fromV1: Convert
}

/** The versions of a kind of which v1beta1 has another shape. The newest two differ in their names only. */
export function withV1beta1(
  v1: KindDefinition,
  v1beta2: KindDefinition,
  { toV1, fromV1 }: Shape,
  parts: Pick<KindDefinition, 'defaults' | 'selectableFields'>,
): KindDefinition[] {
  const convert: KindDefinition['convert'] = (object, to) => (to === API_VERSION ? fromV1(object) : object)
  const inV1 =
    (checkUpdate: CheckUpdate): CheckUpdate =>
    (object, old) =>
      checkUpdate(toV1(object), toV1(old))
  const { create, update, status } = v1.validation!
  const v1beta1 = {
    ...earlierVersion(v1, 'v1beta1', DEPRECATION),
    validation: {
      create: (object: ValueObject) => create(toV1(object)),
      update: inV1(update),
      ...(status && { status: inV1(status) }),
    },
    convert: toV1,
    ...parts,
  }
  return [{ ...v1, convert }, { ...v1beta2, convert }, v1beta1]
}

// ---- claims

/** What a request asks for, if it names no alternatives. */
const REQUESTED = ['deviceClassName', 'selectors', 'allocationMode', 'count', 'adminAccess', 'tolerations', 'capacity']

/** In v1beta1 a number of 0 and an empty text are those of a field that is not set. */
function isSet(request: ValueObject, name: string): boolean {
  const value = asGiven(request, name)
  return value !== null && value !== '' && value !== 0
}

function requestToV1(request: ValueObject): ValueObject {
  if (!REQUESTED.some(name => isSet(request, name))) return request
  const { name, firstAvailable, ...exactly } = request
  return { ...(name !== undefined && { name }), exactly, ...(firstAvailable !== undefined && { firstAvailable }) }
}

function requestFromV1(request: ValueObject): ValueObject {
  const { exactly, ...rest } = request
  return isObject(exactly) ? { ...exactly, ...rest } : rest
}

/** Changes each item of a list of objects. */
function withItems(object: ValueObject, list: string, change: Convert): ValueObject {
  return has(object, list) ? { ...object, [list]: objectsAt(object, list).map(change) } : object
}

const withPart = (object: ValueObject, name: string, change: Convert): ValueObject =>
  has(object, name) ? { ...object, [name]: change(objectAt(object, name)) } : object

const withRequests =
  (change: Convert): Convert =>
  spec =>
    withPart(spec, 'devices', devices => withItems(devices, 'requests', change))

const inSpec =
  (change: Convert): Convert =>
  object =>
    withPart(object, 'spec', change)

const claimSpec: Shape = { toV1: withRequests(requestToV1), fromV1: withRequests(requestFromV1) }

export const CLAIM: Shape = { toV1: inSpec(claimSpec.toV1), fromV1: inSpec(claimSpec.fromV1) }
export const CLAIM_TEMPLATE: Shape = { toV1: inSpec(CLAIM.toV1), fromV1: inSpec(CLAIM.fromV1) }

/** A request without a class names alternatives, so that it gets no defaults of its own. */
export function defaultClaimSpecV1beta1(spec: ValueObject): void {
  for (const request of objectsAt(objectAt(spec, 'devices'), 'requests')) {
    if (isSet(request, 'deviceClassName')) defaultDevices(request)
    objectsAt(request, 'firstAvailable').forEach(defaultDevices)
  }
}

// ---- slices

/** What holds the parts of a device, in any version. */
export const partsOfDevice = (device: ValueObject): ValueObject => objectOrNone(device, 'basic') ?? device

/** The type of `basic` has all that a device of v1 has, apart from its name. */
const deviceToV1: Convert = ({ basic, ...device }) => (isObject(basic) ? { ...basic, ...device } : device)
const deviceFromV1: Convert = ({ name, ...basic }) => (name === undefined ? { basic } : { name, basic })

/** An empty name of a node, and false, are those of a field that is not set. */
function sliceToV1(spec: ValueObject): ValueObject {
  const converted = withItems(spec, 'devices', deviceToV1)
  const { nodeName, allNodes, ...rest } = converted
  return { ...rest, ...(nodeName && { nodeName }), ...(allNodes && { allNodes }) }
}

export const SLICE: Shape = {
  toV1: inSpec(sliceToV1),
  fromV1: inSpec(spec => withItems(spec, 'devices', deviceFromV1)),
}
