// TokenRequest: issues a token of a service account, bound to an object if the request names one.

import { type FieldError, fieldInvalid } from '../../meta/errors/field-errors.js'
import { badRequest, conflict, invalid, notFound } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, numberAt, objectAt, objectOrNone, stringAt, stringsAt } from '../../meta/values/access.js'
import { printTime } from '../../meta/values/time.js'
import type { ValueObject } from '../../meta/values/value.js'
import { typedVirtualResource } from '../../request/typed-virtual-resource.js'
import type { VirtualResource } from '../../request/virtual-resource.js'
import {
  type BoundKind,
  type FindObject,
  issueToken,
  type TokenAuthority,
  type TokenSpec,
} from '../authn/account-tokens.js'

const DEFAULT_SECONDS = 3_600
const MIN_SECONDS = 600
const MAX_SECONDS = 2 ** 32
const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' }
const MISMATCH_ANNOTATION = 'authentication.k8s.io/token-request-uid-mismatch'
const UNCHECKED =
  'but TokenRequestServiceAccountUIDValidation is not enabled. In the future, this will return a conflict error'

/** `checksUid`: whether a request with the UID of another account is refused; otherwise there is a warning. */
export const tokenRequests = (authority: TokenAuthority, find: FindObject, checksUid = true): VirtualResource => ({
  ...typedVirtualResource(
    'v1',
    'serviceaccounts/token',
    async ({ request, object, namespace, name, now, validate }) => {
      const spec = objectAt(object, 'spec')
      const account = await find('ServiceAccount', namespace, name)
      if (!account) throw notFound({ group: '', resource: 'serviceaccounts' }, name)
      const own = metaOf(object).name ?? ''
      if (own !== '' && own !== name) {
        const why = 'must match the service account name if specified'
        throw invalid(KIND, name, [fieldInvalid('metadata.name', own, why)])
      }
      const mismatch = uidMismatch(object, account)
      if (mismatch !== undefined) {
        if (checksUid) throw conflict({ group: KIND.group, resource: KIND.kind }, name, mismatch)
        request.annotate(MISMATCH_ANNOTATION, mismatch)
        request.warn(`${mismatch} ${UNCHECKED}`)
      }
      const requested = stringsAt(spec, 'audiences')
      const audiences = requested.length === 0 ? [...authority.audiences] : [...requested]
      const requestedSeconds = numberAt(spec, 'expirationSeconds')
      const errors = checkSeconds(requestedSeconds)
      if (errors.length > 0) throw invalid(KIND, '', errors)
      const metadata = {
        ...object.metadata,
        ...metaFor(account, now),
        uid: metaOf(object).uid || metaOf(account).uid || '',
      }
      await validate({ ...object, metadata, spec: { ...spec, audiences, expirationSeconds: requestedSeconds } })
      const seconds = Math.min(requestedSeconds, authority.maxSeconds ?? Infinity)
      const reference = objectOrNone(spec, 'boundObjectRef')
      const bound = reference ? await findBound(reference, namespace, name, find) : []
      const token = await issueToken({ account, audiences, seconds, bound, now }, authority)
      return {
        ...object,
        metadata,
        spec: { audiences, expirationSeconds: seconds, boundObjectRef: reference ?? null },
        status: { token, expirationTimestamp: printTime(now + seconds * 1000) },
      }
    },
  ),
  applyDefaults: withSeconds,
})

/** A request may say which service account it means, since one of the same name may have been created meanwhile. */
function uidMismatch(request: ApiObject, account: ApiObject): string | undefined {
  const { uid = '' } = metaOf(request)
  const { uid: actual = '' } = metaOf(account)
  if (uid === '' || uid === actual) return undefined
  return `the UID in the token request (${uid}) does not match the UID of the service account (${actual})`
}

function withSeconds(object: ApiObject): ApiObject {
  const spec = objectAt(object, 'spec')
  if (has(spec, 'expirationSeconds')) return object
  return { ...object, spec: { ...spec, expirationSeconds: DEFAULT_SECONDS } }
}

function metaFor(account: ApiObject, now: number): ValueObject {
  const { name = '', namespace = '', uid = '' } = metaOf(account)
  return { name, namespace, uid, creationTimestamp: printTime(now) }
}

function checkSeconds(seconds: number): FieldError[] {
  const path = 'spec.expirationSeconds'
  if (seconds < MIN_SECONDS) return [fieldInvalid(path, seconds, 'may not specify a duration less than 10 minutes')]
  if (seconds > MAX_SECONDS) {
    return [fieldInvalid(path, seconds, 'may not specify a duration larger than 2^32 seconds')]
  }
  return []
}

const RESOURCES: Readonly<Record<BoundKind, string>> = { Secret: 'secrets', Pod: 'pods', Node: 'nodes' }

async function findBound(
  reference: ValueObject,
  namespace: string,
  account: string,
  find: FindObject,
): Promise<TokenSpec['bound']> {
  const kind = stringAt(reference, 'kind')
  const apiVersion = stringAt(reference, 'apiVersion')
  if (apiVersion !== 'v1' || !isBound(kind)) {
    const [version, group = ''] = apiVersion.split('/').toReversed()
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  }
  const name = stringAt(reference, 'name')
  const object = await find(kind, kind === 'Node' ? '' : namespace, name)
  if (!object) throw notFound({ group: '', resource: RESOURCES[kind] }, name)
  const spec = objectAt(object, 'spec')
  if (kind === 'Pod' && stringAt(spec, 'serviceAccountName') !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${quote(account)} to pod running with different serviceaccount name.`,
    )
  }
  const uid = stringAt(reference, 'uid')
  if (uid !== '' && uid !== metaOf(object).uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', resource: kind }, name, why)
  }
  const nodeName = kind === 'Pod' ? stringAt(spec, 'nodeName') : ''
  if (nodeName === '') return [{ kind, object }]
  // A node that does not exist is named without a UID.
  const node = (await find('Node', '', nodeName)) ?? unknownNode(nodeName)
  return [
    { kind, object },
    { kind: 'Node', object: node },
  ]
}

const unknownNode = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })

const isBound = (kind: string): kind is BoundKind => Object.hasOwn(RESOURCES, kind)
