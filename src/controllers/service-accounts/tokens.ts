// Tokens in Secrets of type kubernetes.io/service-account-token: fills them in for the account that they name, and deletes
// them with that account.
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { type SystemObjects, systemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { queueKey, readQueueKey, startKindController } from '../common/kind-controller.js'

export const TOKEN_TYPE = 'kubernetes.io/service-account-token'
export const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
const ACCOUNT_UID = 'kubernetes.io/service-account.uid'

export interface TokenKinds {
  readonly accounts: Kind
  readonly secrets: Kind
}

export interface TokenSource {
  /** In PEM form; undefined if https is not served. */
  readonly ca: string | undefined
  /** The token of a Secret, which has no expiry. */
  issue(account: ApiObject, secret: ApiObject): string
}

export function startTokenSecrets(
  context: ApiContext,
  { accounts, secrets }: TokenKinds,
  source: TokenSource,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, 'service-account-controller')

  async function reconcileSecret(namespace: string, name: string): Promise<void> {
    const secret = await objects.get(secrets, namespace, name)
    if (!secret) return dropReference(namespace, name)
    const account = await accountOf(objects, accounts, secret)
    const { uid } = metaOf(secret)
    if (!account) {
      await objects.delete(secrets, namespace, name, uid === undefined ? {} : { preconditions: { uid } })
      return
    }
    await objects.change(secrets, namespace, name, old => withToken(old, account, source))
  }

  /** An account that names a Secret that is gone forgets it. */
  async function dropReference(namespace: string, secret: string): Promise<void> {
    const { entries } = await context.objectStore(accounts).cache.range(keyPrefixOf(accounts, namespace))
    const namesIt = (account: ApiObject): boolean => objectsAt(account, 'secrets').some(each => each['name'] === secret)
    for (const account of entries.map(decodeStored).filter(namesIt)) {
      await objects.change(accounts, namespace, metaOf(account).name!, old => {
        if (!namesIt(old)) return undefined
        return { ...old, secrets: objectsAt(old, 'secrets').filter(each => each['name'] !== secret) }
      })
    }
  }

  /** The tokens of an account that is gone go too. */
  async function enqueueTokens(namespace: string): Promise<void> {
    const { entries } = await context.objectStore(secrets).cache.range(keyPrefixOf(secrets, namespace))
    for (const secret of entries.map(decodeStored).filter(isToken)) {
      await reconcileSecret(namespace, metaOf(secret).name!)
    }
  }

  return startKindController(context, {
    name: 'serviceaccount_tokens',
    env,
    follow: [
      {
        kind: secrets,
        keys(change) {
          const secret = change.object()
          return secret && !isToken(secret) ? [] : [queueKey(change)]
        },
      },
      { kind: accounts, keys: change => (change.isDeleted ? [`${change.namespace}/`] : []) },
    ],
    reconcile(key) {
      const { namespace, name } = readQueueKey(key)
      return name === '' ? enqueueTokens(namespace) : reconcileSecret(namespace, name)
    },
  })
}

const isToken = (secret: ApiObject): boolean =>
  stringAt(secret, 'type') === TOKEN_TYPE && (metaOf(secret).annotations?.[ACCOUNT_NAME] ?? '') !== ''

/** The account that a Secret names, if it is the one that its uid names too. */
export async function accountOf(
  objects: SystemObjects,
  accounts: Kind,
  secret: ApiObject,
): Promise<ApiObject | undefined> {
  const { namespace = '', annotations = {} } = metaOf(secret)
  const account = await objects.get(accounts, namespace, annotations[ACCOUNT_NAME] ?? '')
  const uid = annotations[ACCOUNT_UID] ?? ''
  return account && (uid === '' || uid === metaOf(account).uid) ? account : undefined
}

/** Undefined if the Secret has all that belongs into it. */
function withToken(secret: ApiObject, account: ApiObject, { ca, issue }: TokenSource): ApiObject | undefined {
  const data = objectAt(secret, 'data')
  const { name = '', uid = '' } = metaOf(account)
  const missing: ValueObject = {
    ...(ca !== undefined && stringAt(data, 'ca.crt') !== base64(ca) && { 'ca.crt': base64(ca) }),
    ...(stringAt(data, 'namespace') === '' && { namespace: base64(metaOf(secret).namespace ?? '') }),
    ...(stringAt(data, 'token') === '' && { token: base64(issue(account, secret)) }),
  }
  if (Object.keys(missing).length === 0) return undefined
  const annotations = { ...metaOf(secret).annotations, [ACCOUNT_NAME]: name, [ACCOUNT_UID]: uid }
  return { ...secret, metadata: { ...secret.metadata, annotations }, data: { ...data, ...missing } }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
