// The Lease in kube-system by which others see that this API server lives: named by its host, renewed every ten seconds.
// Leases of servers that are gone are deleted, once an hour.
import { createHash, randomUUID } from 'node:crypto'
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf, withMeta } from '../../meta/object/object-meta.js'
import { objectAt } from '../../meta/values/access.js'
import { printMicroTime } from '../../meta/values/time.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { serverObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startIntervalController } from '../common/interval-controller.js'
import { hasExpired } from '../common/lease-expiry.js'

const NAMESPACE = 'kube-system'
const COMPONENT = 'kube-apiserver'
const LABEL = 'apiserver.kubernetes.io/identity'
const LEASE_SECONDS = 3600
const RENEW_MS = 10_000
const COLLECT_MS = 3_600_000

/** Renews the Lease of this server. */
export function startIdentityLease(
  context: ApiContext,
  leases: Kind,
  hostname: string,
  env: ControllerEnv,
): Controller {
  const objects = serverObjects(context)
  const name = identityOf(hostname)
  const labels = { [LABEL]: COMPONENT, 'kubernetes.io/hostname': hostname }
  const holder = `${name}_${randomUUID()}`

  async function renew(): Promise<void> {
    const spec = {
      holderIdentity: holder,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: printMicroTime(env.clock.now()),
    }
    const renewed = await objects.update(leases, NAMESPACE, name, old => ({
      ...(withMeta(old, { ...metaOf(old), labels: { ...metaOf(old).labels, ...labels } }) as ApiObject),
      spec: { ...objectAt(old, 'spec'), ...spec },
    }))
    if (!renewed) await objects.create(leases, { metadata: { name, namespace: NAMESPACE, labels }, spec })
  }

  return startIntervalController('identity_lease', env, RENEW_MS, renew)
}

/** Deletes the Leases of servers that did not renew theirs in time. */
export function startIdentityLeaseCollector(context: ApiContext, leases: Kind, env: ControllerEnv): Controller {
  const objects = serverObjects(context)

  async function collect(): Promise<void> {
    const { entries } = await context.objectStore(leases).cache.range(keyPrefixOf(leases, NAMESPACE))
    for (const entry of entries) {
      const lease = decodeStored(entry)
      if (metaOf(lease).labels?.[LABEL] !== COMPONENT || !hasExpired(lease, env.clock.now())) continue
      // Only as it was read: its server may have come back.
      const { name = '', uid = '' } = metaOf(lease)
      const preconditions = { uid, resourceVersion: String(entry.revision) }
      await objects.delete(leases, NAMESPACE, name, { preconditions })
    }
  }

  return startIntervalController('identity_lease_gc', env, COLLECT_MS, collect)
}

/** `apiserver-` and a hash of the host and the component, each with its length before it. */
export function identityOf(hostname: string): string {
  const hash = createHash('sha256')
  for (const part of [hostname, COMPONENT]) {
    const bytes = Buffer.from(part)
    const length = Buffer.alloc(2)
    length.writeUInt16BE(bytes.length)
    hash.update(length).update(bytes)
  }
  return `apiserver-${base32(hash.digest().subarray(0, 16))}`
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** In lower case, without padding. */
function base32(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(value >> bits) & 31]
    }
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text
}
