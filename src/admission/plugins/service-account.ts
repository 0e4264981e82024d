// ServiceAccount: a new pod runs as a ServiceAccount that exists, `default` if it names none. The pod gets the image pull
// secrets of the account and, unless account or pod switch it off, a volume with a token of the account.

import { setTimeout as delay } from 'node:timers/promises'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, mapAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { copyValue, getOwn, type ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import { type Attributes, forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'

const ACCOUNT = { group: '', kind: 'ServiceAccount' }
const DEFAULT_ACCOUNT = 'default'

/** The controller creates the default account a moment after the namespace, so that it is waited for. */
const DEFAULT_ACCOUNT_ATTEMPTS = 10
const RETRY_MS = 100

/** Pods that a kubelet has copied from its own files carry this annotation. */
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'
const ENFORCE_ANNOTATION = 'kubernetes.io/enforce-mountable-secrets'

export interface ServiceAccountOptions {
  generateName(base: string): string
  readonly retryMs?: number | undefined
}

export function serviceAccount(objects: Lister, options: ServiceAccountOptions): AdmissionPlugin {
  const { generateName, retryMs = RETRY_MS } = options

  async function accountOf(attributes: Attributes, name: string): Promise<ApiObject> {
    const { namespace } = attributes
    const attempts = name === DEFAULT_ACCOUNT ? DEFAULT_ACCOUNT_ATTEMPTS : 1
    for (let attempt = 1; attempt <= attempts; attempt++) {
      if (attempt > 1) await delay(retryMs)
      const found = await objects.find(ACCOUNT, namespace, name)
      if (found) return found
    }
    const notFound = `serviceaccount "${name}" not found`
    throw forbiddenBy(attributes, `error looking up service account ${namespace}/${name}: ${notFound}`)
  }

  /** The account that a pod must name, with its limits on secrets. */
  async function checkAccount(attributes: Attributes, pod: ApiObject): Promise<void> {
    const name = accountName(pod)
    if (name === '') {
      const { name: podName = '' } = metaOf(pod)
      throw forbiddenBy(attributes, `no service account specified for pod ${attributes.namespace}/${podName}`)
    }
    const account = await accountOf(attributes, name)
    if (!limitsSecrets(account)) return
    const isEphemeral = attributes.subresource === 'ephemeralcontainers'
    const error = isEphemeral ? ephemeralSecretError(account, pod) : secretError(account, pod)
    if (error !== undefined) throw forbiddenBy(attributes, error)
  }

  return {
    name: 'ServiceAccount',
    operations: new Set(['CREATE', 'UPDATE']),
    resources: ['pods', 'pods/ephemeralcontainers'],
    async mutate(attributes) {
      const { operation, object: pod } = attributes
      if (operation !== 'CREATE' || !pod || isMirror(pod)) return undefined
      const name = accountName(pod) || DEFAULT_ACCOUNT
      const account = await accountOf(attributes, name)
      const changed = copyValue(pod)
      const spec = objectAt(changed, 'spec')
      spec['serviceAccountName'] = name
      // The deprecated name of the field is kept equal.
      spec['serviceAccount'] = name
      if (mountsToken(account, pod)) mountToken(spec, generateName)
      const pullSecrets = objectsAt(account, 'imagePullSecrets')
      if (objectsAt(spec, 'imagePullSecrets').length === 0 && pullSecrets.length > 0) {
        spec['imagePullSecrets'] = pullSecrets.map(secret => ({ name: stringAt(secret, 'name') }))
      }
      return changed
    },
    async validate(attributes) {
      const { operation, subresource, object: pod } = attributes
      if (!pod || (operation === 'UPDATE' && subresource !== 'ephemeralcontainers')) return
      if (operation === 'CREATE' && isMirror(pod)) {
        const error = mirrorError(pod)
        if (error !== undefined) throw forbiddenBy(attributes, error)
        return
      }
      await checkAccount(attributes, pod)
    },
  }
}

const accountName = (pod: ApiObject): string => stringAt(objectAt(pod, 'spec'), 'serviceAccountName')

const isMirror = (pod: ApiObject): boolean => has(mapAt(pod.metadata, 'annotations'), MIRROR_ANNOTATION)

// ---- the token volume

const VOLUME_PREFIX = 'kube-api-access-'
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const TOKEN_SECONDS = 3607
const DEFAULT_MODE = 0o644

/** The pod decides, then the account; the default is yes. */
function mountsToken(account: ApiObject, pod: ApiObject): boolean {
  const field = 'automountServiceAccountToken'
  return (getOwn(objectAt(pod, 'spec'), field) ?? getOwn(account, field) ?? true) !== false
}

/** Mounts the token into every container that has nothing mounted at its path. */
function mountToken(spec: ValueObject, generateName: (base: string) => string): void {
  const volumes = objectsAt(spec, 'volumes')
  const existing = volumes.find(volume => stringAt(volume, 'name').startsWith(VOLUME_PREFIX))
  const name = existing ? stringAt(existing, 'name') : generateName(VOLUME_PREFIX)
  const needing = [...objectsAt(spec, 'initContainers'), ...objectsAt(spec, 'containers')].filter(
    container => !objectsAt(container, 'volumeMounts').some(mount => stringAt(mount, 'mountPath') === MOUNT_PATH),
  )
  for (const container of needing) {
    const mount = { name, readOnly: true, mountPath: MOUNT_PATH }
    container['volumeMounts'] = [...objectsAt(container, 'volumeMounts'), mount]
  }
  if (!existing && needing.length > 0) spec['volumes'] = [...volumes, { name, projected: tokenSource() }]
}

const tokenSource = (): ValueObject => ({
  sources: [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ],
  defaultMode: DEFAULT_MODE,
})

// ---- secrets

/** Go's spellings of true. */
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

const limitsSecrets = (account: ApiObject): boolean =>
  TRUE.has(stringAt(mapAt(account.metadata, 'annotations'), ENFORCE_ANNOTATION))

const namesIn = (account: ApiObject, field: 'secrets' | 'imagePullSecrets'): ReadonlySet<string> =>
  new Set(objectsAt(account, field).map(secret => stringAt(secret, 'name')))

/** Why an account that limits secrets does not allow the pod. */
function secretError(account: ApiObject, pod: ApiObject): string | undefined {
  const spec = objectAt(pod, 'spec')
  const { name: by = '' } = metaOf(account)
  const allowed = namesIn(account, 'secrets')
  for (const volume of objectsAt(spec, 'volumes')) {
    const secret = objectOrNone(volume, 'secret')
    const name = secret && stringAt(secret, 'secretName')
    if (name !== undefined && !allowed.has(name)) return `volume with ${notReferenced(name, by)}`
  }
  const error =
    containerSecretError(objectsAt(spec, 'initContainers'), 'init container', allowed, by) ??
    containerSecretError(objectsAt(spec, 'containers'), 'container', allowed, by)
  if (error !== undefined) return error
  const pullable = namesIn(account, 'imagePullSecrets')
  for (const [i, secret] of objectsAt(spec, 'imagePullSecrets').entries()) {
    const name = stringAt(secret, 'name')
    if (pullable.has(name)) continue
    return `imagePullSecrets[${i}].name="${name}" is not allowed because service account ${by} does not reference that imagePullSecret`
  }
  return undefined
}

const ephemeralSecretError = (account: ApiObject, pod: ApiObject): string | undefined =>
  containerSecretError(
    objectsAt(objectAt(pod, 'spec'), 'ephemeralContainers'),
    'ephemeral container',
    namesIn(account, 'secrets'),
    metaOf(account).name ?? '',
  )

function containerSecretError(
  containers: readonly ValueObject[],
  what: string,
  allowed: ReadonlySet<string>,
  by: string,
): string | undefined {
  for (const container of containers) {
    const subject = `${what} ${stringAt(container, 'name')}`
    for (const variable of objectsAt(container, 'env')) {
      const name = secretOfVariable(variable)
      if (name === undefined || allowed.has(name)) continue
      return `${subject} with envVar ${stringAt(variable, 'name')} referencing ${notReferenced(name, by)}`
    }
    for (const source of objectsAt(container, 'envFrom')) {
      const name = secretOfSource(source)
      if (name !== undefined && !allowed.has(name))
        return `${subject} with envFrom referencing ${notReferenced(name, by)}`
    }
  }
  return undefined
}

const notReferenced = (secret: string, account: string): string =>
  `secret.secretName="${secret}" is not allowed because service account ${account} does not reference that secret`

function secretOfVariable(variable: ValueObject): string | undefined {
  const reference = objectOrNone(objectAt(variable, 'valueFrom'), 'secretKeyRef')
  return reference && stringAt(reference, 'name')
}

function secretOfSource(source: ValueObject): string | undefined {
  const reference = objectOrNone(source, 'secretRef')
  return reference && stringAt(reference, 'name')
}

// ---- mirror pods

/** A mirror pod runs without the API server, so that it cannot use anything that comes from it. */
function mirrorError(pod: ApiObject): string | undefined {
  const spec = objectAt(pod, 'spec')
  if (accountName(pod) !== '') return 'a mirror pod may not reference service accounts'
  if (referencesSecrets(spec)) return 'a mirror pod may not reference secrets'
  const projections = objectsAt(spec, 'volumes').flatMap(volume => objectsAt(objectAt(volume, 'projected'), 'sources'))
  return projections.some(source => has(source, 'serviceAccountToken'))
    ? 'a mirror pod may not use ServiceAccountToken volume projections'
    : undefined
}

/** The volume sources that name a secret, with the field that does. */
const SECRET_FIELDS: readonly (readonly [source: string, field: string])[] = [
  ['azureFile', 'secretName'],
  ['secret', 'secretName'],
  ['csi', 'nodePublishSecretRef'],
  ...['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].map(
    source => [source, 'secretRef'] as const,
  ),
]

function referencesSecrets(spec: ValueObject): boolean {
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap(field => objectsAt(spec, field))
  const volumes = objectsAt(spec, 'volumes')
  return (
    objectsAt(spec, 'imagePullSecrets').some(secret => stringAt(secret, 'name') !== '') ||
    containers.some(
      container =>
        objectsAt(container, 'env').some(secretOfVariable) || objectsAt(container, 'envFrom').some(secretOfSource),
    ) ||
    volumes.some(
      volume =>
        SECRET_FIELDS.some(([source, field]) => has(objectAt(volume, source), field)) ||
        objectsAt(objectAt(volume, 'projected'), 'sources').some(source => has(source, 'secret')),
    )
  )
}
