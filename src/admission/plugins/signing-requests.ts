// Requests for certificates: who asks is not theirs to say, some things nobody gets, and only those consent or sign who
// may for that signer.

import { parseSigningRequest } from '../../builtin/certificate-request.js'
import { forbidden } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import type { GroupResource } from '../../meta/group-version.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { Value, ValueObject } from '../../meta/values/value.js'

export const SIGNING_REQUESTS: GroupResource = {
  group: 'certificates.k8s.io',
  resource: 'certificatesigningrequests',
}

/** Who asks, as far as the request tells it on. */
export interface Requester {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** The request as one of theirs, whatever it says. */
export function requestedBy(request: ApiObject, { name, uid, groups, extra }: Requester): ApiObject {
  const { username: _, uid: _uid, groups: _groups, extra: _extra, ...spec } = objectAt(request, 'spec')
  const who: ValueObject = {
    username: name,
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(Object.keys(extra).length > 0 && { extra: { ...extra } as Value }),
  }
  return { ...request, spec: { ...spec, ...who } }
}

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client'
const EVERYTHING_GROUP = 'system:masters'

/** Nobody becomes a member by a certificate of the group that may do everything. */
export function checkRequestedSubject(request: ApiObject): void {
  const spec = objectAt(request, 'spec')
  if (stringAt(spec, 'signerName') !== CLIENT_SIGNER) return
  const parsed = parseSigningRequest(stringAt(spec, 'request'))
  if (!parsed.ok || !parsed.value.organizations.includes(EVERYTHING_GROUP)) return
  const why = `use of ${CLIENT_SIGNER} signer with ${EVERYTHING_GROUP} group is not allowed`
  throw forbidden(SIGNING_REQUESTS, metaOf(request).name ?? '', why)
}

/** Whether somebody may do this with the signer of that name. */
export type MayUseSigner = (verb: 'approve' | 'sign', signer: string) => Promise<boolean>

/** To consent, and to hand out certificates or say that there will be none, takes rights for the signer. */
export async function checkSignerUse(
  part: 'approval' | 'status',
  request: ApiObject,
  old: ApiObject,
  may: MayUseSigner,
): Promise<void> {
  if (part === 'status' && !isSigning(request, old)) return
  const verb = part === 'approval' ? 'approve' : 'sign'
  const signer = stringAt(objectAt(old, 'spec'), 'signerName')
  // Of that name, or of any name of its domain.
  const names = [signer, `${signer.split('/')[0]}/*`]
  for (const name of names) if (await may(verb, name)) return
  const why = `user not permitted to ${verb} requests with signerName ${quote(signer)}`
  throw forbidden(SIGNING_REQUESTS, metaOf(old).name ?? '', why)
}

function isSigning(request: ApiObject, old: ApiObject): boolean {
  const [now, before] = [objectAt(request, 'status'), objectAt(old, 'status')]
  const failures = (status: ValueObject): string =>
    JSON.stringify(objectsAt(status, 'conditions').filter(each => stringAt(each, 'type') === 'Failed'))
  return stringAt(now, 'certificate') !== stringAt(before, 'certificate') || failures(now) !== failures(before)
}
