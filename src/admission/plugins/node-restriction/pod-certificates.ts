// PodCertificateRequests of nodes: for pods that run there, which are named as they are. A uid that is not the stored one may
// be newer than what is known here, so that such an error is no refusal: the node tries again.
import { notFound, unclassified } from '../../../meta/errors/status.js'
import { type FeatureGates, isGateOn } from '../../../meta/feature-gates.js'
import { quote } from '../../../meta/go/go-text.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { objectAt, stringAt } from '../../../meta/values/access.js'
import type { Lister } from '../../../objects/lister.js'
import type { Attributes } from '../../attributes.js'

const MIRROR = 'kubernetes.io/config.mirror'

interface PodCertificateEnv {
  readonly objects: Lister
  readonly featureGates: FeatureGates
}

/** Why the request is refused. Throws other errors. */
export async function checkPodCertificate(
  node: string,
  { operation, subresource, namespace, object }: Attributes,
  { objects, featureGates }: PodCertificateEnv,
): Promise<string | undefined> {
  if (!isGateOn(featureGates, 'PodCertificateRequest')) return 'PodCertificateRequest feature gate is disabled'
  if (operation !== 'CREATE') return `unexpected operation ${operation}`
  if (subresource !== '') return `unexpected subresource ${subresource}`
  const spec = objectAt(object!, 'spec')
  const of = (name: string): string => stringAt(spec, name)
  const podName = quote(`${namespace}/${of('podName')}`)
  if (of('nodeName') !== node)
    return `PodCertificateRequest.Spec.NodeName=${quote(of('nodeName'))}, which is not the requesting node ${quote(node)}`

  const stored = await find(objects, 'Node', '', node, `node ${quote(node)}`)
  const nodeUid = metaOf(stored).uid ?? ''
  if (nodeUid !== of('nodeUID')) {
    throw unclassified(
      `PodCertificateRequest for pod ${podName} names node UID ${quote(of('nodeUID'))}, inconsistent with the running node (${quote(nodeUid)})`,
    )
  }
  const pod = await find(objects, 'Pod', namespace, of('podName'), `pod ${podName}`)
  const podUid = metaOf(pod).uid ?? ''
  if (podUid !== of('podUID')) {
    throw unclassified(
      `PodCertificateRequest for pod ${podName} contains pod UID (${quote(of('podUID'))}) which differs from running pod ${quote(podUid)}`,
    )
  }
  if (stringAt(objectAt(pod, 'spec'), 'nodeName') !== node)
    return `pod ${podName} is not running on node ${quote(node)} named in the PodCertificateRequest`
  if (metaOf(pod).annotations?.[MIRROR] !== undefined) return `pod ${podName} is a mirror pod`

  const [wanted, account] = [of('serviceAccountName'), stringAt(objectAt(pod, 'spec'), 'serviceAccountName')]
  if (wanted !== account) {
    return `PodCertificateRequest for pod ${podName} contains serviceAccountName (${quote(wanted)}) that differs from running pod (${quote(account)})`
  }
  const what = `service account ${quote(`${namespace}/${wanted}`)}`
  const accountUid = metaOf(await find(objects, 'ServiceAccount', namespace, wanted, what)).uid ?? ''
  if (accountUid === of('serviceAccountUID')) return undefined
  throw unclassified(
    `PodCertificateRequest for pod ${podName} names service account UID ${quote(of('serviceAccountUID'))}, which differs from the running service account (${quote(accountUid)})`,
  )
}

async function find(objects: Lister, kind: string, namespace: string, name: string, what: string): Promise<ApiObject> {
  const found = await objects.find({ group: '', kind }, namespace, name)
  if (found) return found
  const { message } = notFound({ group: '', resource: `${kind.toLowerCase()}s` }, name)
  throw unclassified(`while retrieving ${what} named in the PodCertificateRequest: ${message}`)
}
