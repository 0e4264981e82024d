// Cleans up tokens that were once generated for every account and that have not been used for a year: first they are
// marked as invalid, and a year later they are deleted. Tokens that an administrator created stay.
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { millisOf } from '../../meta/values/time.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue } from '../common/controller.js'
import { accountOf, TOKEN_TYPE } from './tokens.js'

const LAST_USED = 'kubernetes.io/legacy-token-last-used'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'
export const TRACKING = 'kube-apiserver-legacy-service-account-token-tracking'
const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
const ALL = 'all'

export interface LegacyTokenKinds {
  readonly accounts: Kind
  readonly secrets: Kind
  readonly pods: Kind
  readonly configMaps: Kind
}

export async function startLegacyTokenCleaner(
  context: ApiContext,
  { accounts, secrets, pods, configMaps }: LegacyTokenKinds,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, 'legacy-service-account-token-cleaner')
  const queue = createControllerQueue('legacy_service_account_token_cleaner', env, cleanUp, 1)

  async function cleanUp(): Promise<void> {
    queue.addLater(ALL, DAY_MS)
    const now = context.now()
    const tracking = await objects.get(configMaps, 'kube-system', TRACKING)
    const since = tracking ? millisOf(stringAt(objectAt(tracking, 'data'), 'since')) : Number.NaN
    // Uses of before are unknown. The day itself counts in full.
    if (!(now >= since + DAY_MS + YEAR_MS)) return
    const oldest = dayOf(now - YEAR_MS)
    const { entries } = await context.objectStore(secrets).cache.range(secrets.keyPrefix)
    for (const secret of entries.map(decodeStored)) {
      if (isCandidate(secret, now - YEAR_MS, oldest) && (await isGenerated(secret))) await retire(secret, oldest)
    }
  }

  /** Whether its account refers to it, and no pod mounts it. */
  async function isGenerated(secret: ApiObject): Promise<boolean> {
    const { namespace = '', name = '' } = metaOf(secret)
    const account = await accountOf(objects, accounts, secret)
    if (!account || !objectsAt(account, 'secrets').some(each => each['name'] === name)) return false
    const { entries } = await context.objectStore(pods).cache.range(keyPrefixOf(pods, namespace))
    return !entries.some(entry => mounts(decodeStored(entry), name))
  }

  async function retire(secret: ApiObject, oldest: string): Promise<void> {
    const { namespace = '', name = '', labels = {}, resourceVersion } = metaOf(secret)
    const invalidSince = labels[INVALID_SINCE] ?? ''
    if (Number.isNaN(millisOf(invalidSince))) {
      await objects.change(secrets, namespace, name, old => ({
        ...old,
        metadata: { ...old.metadata, labels: { ...metaOf(old).labels, [INVALID_SINCE]: dayOf(context.now()) } },
      }))
    } else if (invalidSince < oldest) {
      const preconditions = resourceVersion === undefined ? {} : { resourceVersion }
      await objects.delete(secrets, namespace, name, { preconditions })
    }
  }

  queue.add(ALL)
  return { idle: () => queue.idle(), stop: () => queue.stop() }
}

const dayOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

/** A token that is old enough and was not used since. */
function isCandidate(secret: ApiObject, createdBefore: number, oldest: string): boolean {
  const { creationTimestamp = '', deletionTimestamp, labels = {} } = metaOf(secret)
  const lastUsed = labels[LAST_USED]
  return (
    stringAt(secret, 'type') === TOKEN_TYPE &&
    deletionTimestamp === undefined &&
    millisOf(creationTimestamp) < createdBefore &&
    (lastUsed === undefined || (!Number.isNaN(millisOf(lastUsed)) && lastUsed < oldest))
  )
}

const mounts = (pod: ApiObject, secret: string): boolean =>
  objectsAt(objectAt(pod, 'spec'), 'volumes').some(
    volume => stringAt(objectAt(volume, 'secret'), 'secretName') === secret,
  )
