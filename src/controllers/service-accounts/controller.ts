// Keeps a ServiceAccount named `default` in every namespace, as the controller of kube-controller-manager does: pods that
// name no account run as this one.

import type { Kind } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { startInformer } from '../../objects/informer.js'
import { objectKeyOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'

const DEFAULT_ACCOUNT = 'default'

export interface ServiceAccountKinds {
  readonly namespaces: Kind
  readonly accounts: Kind
}

export async function startServiceAccounts(
  context: ApiContext,
  { namespaces, accounts }: ServiceAccountKinds,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, 'service-account-controller')
  /** Names of namespaces. */
  const queue = createControllerQueue('serviceaccount', env, reconcile)
  const informers = [
    startInformer(
      context.objectStore(namespaces).cache,
      namespaces.keyPrefix,
      {
        entry: entry => enqueue(decodeStored(entry)),
        event: ({ entry }) => (entry ? enqueue(decodeStored(entry)) : undefined),
      },
      env.log,
    ),
    startInformer(
      context.objectStore(accounts).cache,
      accounts.keyPrefix,
      {
        entry: () => {},
        event({ key, entry }) {
          const { namespace, name } = objectKeyOf(accounts, key)
          if (!entry && name === DEFAULT_ACCOUNT) queue.add(namespace)
        },
      },
      env.log,
    ),
  ]

  function enqueue(namespace: ApiObject): void {
    const { name = '', deletionTimestamp } = metaOf(namespace)
    if (deletionTimestamp === undefined) queue.add(name)
  }

  async function reconcile(namespace: string): Promise<void> {
    const found = await objects.get(namespaces, '', namespace)
    if (!found || metaOf(found).deletionTimestamp !== undefined) return
    if (await objects.get(accounts, namespace, DEFAULT_ACCOUNT)) return
    await objects.create(accounts, { metadata: { name: DEFAULT_ACCOUNT, namespace } })
  }

  await Promise.all(informers.map(({ started }) => whenRead(started)))
  return {
    idle: () => queue.idle(),
    stop() {
      for (const informer of informers) informer.stop()
      queue.stop()
    },
  }
}
