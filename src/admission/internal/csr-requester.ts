// A new CertificateSigningRequest names the user who sent it, whatever its body says. kube-apiserver does this in the
// strategy of the resource; here strategies do not know the user.

import { type ApiObject } from '../../meta/object/api-object.js'
import { objectAt } from '../../meta/values/access.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import type { UserInfo } from '../../request/user-info.js'
import type { AdmissionPlugin } from '../chain.js'

export const csrRequester: AdmissionPlugin = {
  name: 'CertificateSigningRequestRequester',
  operations: new Set(['CREATE']),
  resources: ['certificatesigningrequests.certificates.k8s.io'],
  mutate: ({ object, request }) => object && requestedBy(object, request.user),
}

function requestedBy(csr: ApiObject, { name, uid, groups, extra }: UserInfo): ApiObject {
  const { username: _, uid: _uid, groups: _groups, extra: _extra, ...spec } = objectAt(csr, 'spec')
  const requester: ValueObject = {
    username: name,
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(Object.keys(extra).length > 0 && { extra: { ...extra } as Value }),
  }
  return { ...csr, spec: { ...spec, ...requester } }
}
