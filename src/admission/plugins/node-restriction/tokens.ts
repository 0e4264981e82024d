// Tokens of service accounts that nodes request: bound to a pod of the node, and for an audience that the pod names.
import type { GetAuthorizer } from '../../../auth/authorizer.js'
import { volumeClaim } from '../../../auth/nodes.js'
import { aggregate } from '../../../meta/errors/aggregate.js'
import { notFound } from '../../../meta/errors/status.js'
import { quote } from '../../../meta/go/go-text.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import type { Lister } from '../../../objects/lister.js'
import type { Attributes } from '../../attributes.js'

interface NodeTokenEnv {
  readonly objects: Lister
  readonly authorizer: GetAuthorizer
  readonly restrictsAudiences: boolean
}

/** Why the request is refused. Throws if the pod does not exist. */
export async function checkNodeToken(
  node: string,
  attributes: Attributes,
  env: NodeTokenEnv,
): Promise<string | undefined> {
  const { namespace, object } = attributes
  const spec = objectAt(object!, 'spec')
  const bound = objectOrNone(spec, 'boundObjectRef') ?? {}
  const [name, uid] = [stringAt(bound, 'name'), stringAt(bound, 'uid')]
  if (stringAt(bound, 'apiVersion') !== 'v1' || stringAt(bound, 'kind') !== 'Pod' || name === '') {
    return 'node requested token not bound to a pod'
  }
  if (uid === '') return 'node requested token with a pod binding without a uid'
  const pod = await env.objects.find({ group: '', kind: 'Pod' }, namespace, name)
  if (!pod) throw notFound({ group: '', resource: 'pods' }, name)
  if (metaOf(pod).uid !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
  }
  if (stringAt(objectAt(pod, 'spec'), 'nodeName') !== node) {
    return 'node requested token bound to a pod scheduled on a different node'
  }
  return env.restrictsAudiences ? checkAudience(stringsAt(spec, 'audiences'), pod, attributes, env) : undefined
}

async function checkAudience(
  audiences: readonly string[],
  pod: ApiObject,
  { request: { user }, namespace, name }: Attributes,
  { objects, authorizer }: NodeTokenEnv,
): Promise<string | undefined> {
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences'
  const [audience = ''] = audiences
  const named = await namesAudience(pod, audience, objects)
  if (named.error !== undefined) return `error validating audience ${quote(audience)}: ${named.error}`
  if (named.found) return undefined
  const { allowed, error } = await authorizer().authorize(user, {
    verb: 'request-serviceaccounts-token-audience',
    group: '',
    version: 'v1',
    resource: audience,
    subresource: '',
    namespace,
    name,
  })
  if (allowed) return undefined
  const missing = `audience ${quote(audience)} not found in pod spec volume, `
  return error === undefined
    ? `${missing}${user.name} is not authorized to request tokens for this audience`
    : `${missing}error authorizing ${user.name} to request tokens for this audience: ${error}`
}

/** Whether a volume of the pod has a token for the audience, or one whose driver asks for such tokens. */
async function namesAudience(
  pod: ApiObject,
  audience: string,
  objects: Lister,
): Promise<{ readonly found: boolean; readonly error?: string | undefined }> {
  const errors: string[] = []
  const { namespace = '' } = metaOf(pod)
  for (const volume of objectsAt(objectAt(pod, 'spec'), 'volumes')) {
    const sources = objectsAt(objectAt(volume, 'projected'), 'sources')
    const tokens = sources
      .map(source => objectOrNone(source, 'serviceAccountToken'))
      .filter(token => token !== undefined)
    if (tokens.some(token => stringAt(token, 'audience') === audience)) return { found: true }
    const driver = await driverOf(pod, namespace, volume, objects)
    if (driver.error !== undefined) errors.push(driver.error)
    if (driver.name === '') continue
    const stored = await objects.find({ group: 'storage.k8s.io', kind: 'CSIDriver' }, '', driver.name)
    if (!stored) errors.push(missingText('csidriver.storage.k8s.io', driver.name))
    else if (
      objectsAt(objectAt(stored, 'spec'), 'tokenRequests').some(each => stringAt(each, 'audience') === audience)
    ) {
      return { found: true }
    }
  }
  return { found: false, error: errors.length === 0 ? undefined : aggregate(errors) }
}

async function driverOf(
  pod: ApiObject,
  namespace: string,
  volume: ValueObject,
  objects: Lister,
): Promise<{ readonly name: string; readonly error?: string }> {
  const inline = objectOrNone(volume, 'csi')
  if (inline) return { name: stringAt(inline, 'driver') }
  const claimName = volumeClaim(pod, volume)
  if (claimName === undefined) return { name: inTreeDriver(volume) }
  const claim = await objects.find({ group: '', kind: 'PersistentVolumeClaim' }, namespace, claimName)
  if (!claim) return { name: '', error: missingText('persistentvolumeclaim', claimName) }
  const volumeName = stringAt(objectAt(claim, 'spec'), 'volumeName')
  const found = volumeName && (await objects.find({ group: '', kind: 'PersistentVolume' }, '', volumeName))
  if (!found) return { name: '', error: missingText('persistentvolume', volumeName) }
  const spec = objectAt(found, 'spec')
  return { name: stringAt(objectAt(spec, 'csi'), 'driver') || inTreeDriver(spec) }
}

const missingText = (what: string, name: string): string => `${what} ${quote(name)} not found`

/** The drivers that have taken the place of built-in volume types. */
const DRIVERS: Readonly<Record<string, string>> = {
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  awsElasticBlockStore: 'ebs.csi.aws.com',
  cinder: 'cinder.csi.openstack.org',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
  portworxVolume: 'pxd.portworx.com',
}

const inTreeDriver = (volume: ValueObject): string =>
  DRIVERS[Object.keys(DRIVERS).find(source => objectOrNone(volume, source)) ?? ''] ?? ''
